import type { Git } from '../../git/index.ts';
import type { Found } from '../../repositories/index.ts';
import { page, type Reply } from '../reply.ts';
import type { WebRooms } from '../rooms.ts';
import { viewCloneBox } from '../views/clone-box.ts';
import { viewCommit } from '../views/commit.ts';
import { maxRows, viewFileTable } from '../views/file-table.ts';
import { viewPushRecipes } from '../views/push-recipes.ts';
import { findReadme, maxReadmeBytes, viewReadme } from '../views/readme.ts';
import { viewRefCounts } from '../views/ref-counts.ts';
import { viewRepositoryHead } from '../views/repository-head.ts';
import { viewSize } from '../views/sizes.ts';
import type { Page, RepositoryVisit } from '../visit.ts';

/** What the clone box says to somebody who could not push yet. */
async function credentialsOf({ person }: RepositoryVisit, { accounts }: WebRooms) {
  if (person === null) return null;
  const [keys, tokens] = await Promise.all([accounts.listKeys(person.id), accounts.listTokens(person.id)]);
  return { username: person.username, hasKey: keys.length > 0, hasToken: tokens.length > 0 };
}

async function frameOf(visit: RepositoryVisit, rooms: WebRooms) {
  const { found, origin, preferences } = visit;
  return {
    repository: viewRepositoryHead(found),
    credentials: await credentialsOf(visit, rooms),
    clone: viewCloneBox({ origin, ...found.canonical, ssh: rooms.ssh(), config: rooms.config, preferred: preferences.clone }),
  };
}

async function readReadme(git: Git, path: string, entries: Parameters<typeof findReadme>[0]) {
  const entry = findReadme(entries);
  if (entry === null) return null;
  const { content } = await git.blob(path, entry.oid, { maxBytes: maxReadmeBytes });
  return viewReadme(entry, content);
}

async function readContents({ path, repository }: Found, oid: string, { git, clock }: WebRooms) {
  const [tree, commit, refs] = await Promise.all([
    git.tree(path, oid, '', { maxEntries: maxRows + 1, withSizes: true }),
    git.commit(path, oid),
    git.refs(path),
  ]);
  return {
    files: viewFileTable(tree),
    commit: viewCommit(commit, clock.now()),
    counts: viewRefCounts(refs),
    readme: await readReadme(git, path, tree.entries),
    size: repository.sizeBytes > 0 ? viewSize(repository.sizeBytes) : null,
  };
}

function emptyPage(frame: Awaited<ReturnType<typeof frameOf>>, branch: string): Reply {
  const { repository: { name }, clone } = frame;
  return page('pages/repository-empty', {
    ...frame,
    recipes: {
      https: viewPushRecipes(clone.https, name, branch),
      ssh: clone.ssh && viewPushRecipes(clone.ssh, name, branch),
    },
  });
}

/** `/repos/{owner}/{name}`: clone box, files of the default branch, README; for an empty one, what to type. */
export const showRepository: Page<RepositoryVisit> = async (visit, rooms): Promise<Reply> => {
  const { found } = visit;
  const [{ branch, oid }, frame] = await Promise.all([rooms.git.head(found.path), frameOf(visit, rooms)]);
  const branchName = branch ?? found.repository.defaultBranch;
  if (oid === null) return emptyPage(frame, branchName);
  return page('pages/repository-home', { ...frame, branch: branchName, ...(await readContents(found, oid, rooms)) });
};
