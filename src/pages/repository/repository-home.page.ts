import type { RefPath, TreeEntry } from '../../git/index.ts';
import { page, type Reply } from '../app/reply.ts';
import { describeGrant } from '../app/role-names.view.ts';
import { dependOn } from '../app/dependency.ts';
import { viewCloneBox, repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { codeUrl, encodeRef } from '../app/code-urls.ts';
import { viewForkDivergence } from './fork-divergence.view.ts';
import { viewKeptCopy } from './kept-copy.view.ts';
import { viewLanguages } from '../code/languages.view.ts';
import { findLicence, licenceName } from '../code/licence.view.ts';
import { viewPushInstructions } from './push-instructions.view.ts';
import { viewRefCounts } from './ref-counts.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { addingLinks } from '../code/editing-links.ts';
import { headPath, readCodeNavigation } from '../code/resolve-location.ts';
import { readAttributes } from '../../repositories/index.ts';
import { readFolder } from '../code/tree.page.ts';
import { nullOnTimeout } from '../app/null-on-timeout.ts';
import type { RepositoryDeps } from './deps.ts';
import { readPushedBranches } from './pushed-branches.ts';

/** For the clone box: credentials that the viewer still lacks for a push. */
async function credentialsOf({ person }: RepositoryContext, { accounts }: RepositoryDeps) {
  if (person === null) return null;
  const [keys, tokens] = await Promise.all([accounts.listKeys(person.id), accounts.listTokens(person.id)]);
  return { username: person.username, hasKey: keys.length > 0, hasToken: tokens.length > 0 };
}

/** The viewer's access beyond public access, with its reason: the highest permission counts (SPEC §5). */
async function ownAccess(
  { person, viewer, found: { canonical, isOwner } }: RepositoryContext,
  { repositories }: RepositoryDeps,
) {
  if (person === null || isOwner) return null;
  const access = await repositories.collaborators.explainAccess(viewer, canonical.owner, canonical.name);
  const [deciding] = access.grants;
  if (deciding === undefined) return null;
  return {
    level: access.level,
    reason: describeGrant(deciding),
    mayLeave: access.grants.some(({ kind }) => kind === 'collaborator'),
  };
}

/** Null for a repository that is not a mirror. */
async function copyOf({ found }: RepositoryContext, { copies, clock }: RepositoryDeps) {
  if (found.repository.copiedFrom === null) return null;
  const copy = await copies.ofRepository(found.repository.id);
  return copy && viewKeptCopy(copy, repositoryUrl(found.canonical), clock.now());
}

/**
 * For a public repository: its handle for other servers and its number of followers there; null while federation is
 * off.
 */
async function federationOf({ found }: RepositoryContext, { federation }: RepositoryDeps) {
  const { visibility, copiedFrom } = found.repository;
  if (!federation.isOperational || visibility !== 'PUBLIC' || copiedFrom !== null) return null;
  const { owner, name } = found.canonical;
  const count = await federation.countFollowers({ repositoryId: found.repository.id });
  return {
    handle: `${owner}/${name}@${new URL(federation.origin).host}`,
    followers: count === 0 ? null : viewCount(count, 'follower on other servers'),
  };
}

function frameOf(context: RepositoryContext, deps: RepositoryDeps) {
  const { found, origin, preferences } = context;
  return {
    repository: viewRepositoryHeader(found),
    clone: viewCloneBox({
      origin,
      ...found.canonical,
      ssh: deps.ssh(),
      config: deps.config,
      preferred: preferences.clone,
    }),
  };
}

async function topicsOf({ found }: RepositoryContext, { repositories }: RepositoryDeps): Promise<string[]> {
  const { id } = found.repository;
  return (await repositories.topics.of([id])).get(id) ?? [];
}

const maxLicenceBytes = 128 * 1024;
const maxCountedFiles = 100_000;
/** Time that the page waits for data of a large repository that is not cached yet. */
const waitMs = 150;
/** Time that it waits for the distance of a fork to its source, which is counted once for two commits. */
const distanceWaitMs = 500;

async function readLicence(
  { found }: RepositoryContext,
  { git }: RepositoryDeps,
  ref: string,
  entries: readonly TreeEntry[],
) {
  const entry = findLicence(entries);
  if (entry === null) return null;
  const { content } = await git.queries.keptBlob(found.path, entry.oid, { maxBytes: maxLicenceBytes });
  return {
    name: licenceName(content?.toString() ?? '') ?? t('repository.repository_home.licence'),
    url: codeUrl(repositoryUrl(found.canonical), 'blob', ref, entry.rawName),
  };
}

/** The sidebar of the files: cached by commit id, and omitted until it is available. */
async function readFacts(context: RepositoryContext, { git }: RepositoryDeps, at: RefPath) {
  const { path, repository } = context.found;
  const [refs, files, commits] = await Promise.all([
    git.queries.cachedRefs(path),
    nullOnTimeout(git.queries.listFiles(path, at.oid, { limit: maxCountedFiles }), waitMs),
    nullOnTimeout(git.queries.countCommits(path, at.oid), waitMs),
  ]);
  const url = repositoryUrl(context.found.canonical);
  const folder = at.kind === 'branch' ? 'refs/heads/' : at.kind === 'tag' ? 'refs/tags/' : '';
  const archive = `${url}/archive/${folder}${encodeRef(at.name)}`;
  return {
    isComplete: files !== null && commits !== null,
    counts: viewRefCounts(refs),
    commits: commits === null ? null : viewCount(commits, 'commit'),
    languages: files === null ? [] : viewLanguages(files.files, await readAttributes(git, path, files.files)),
    size: repository.sizeBytes > 0 ? viewSize(repository.sizeBytes) : null,
    shared: repository.sharedBytes > 0 ? viewSize(repository.sharedBytes) : null,
    archives: { zip: `${archive}.zip`, tar: `${archive}.tar.gz` },
  };
}

/** For a fork: the distance of its default branch to the source; `isComplete` is false while git still counts. */
async function readDistance({ viewer, found }: RepositoryContext, { repositories }: RepositoryDeps, branch: string) {
  if (found.forks.source === null) return { isComplete: true, distance: null };
  const compared = repositories.forks.compare(viewer, found, branch).then((distance) => ({ distance }));
  const result = await nullOnTimeout(compared, distanceWaitMs);
  const distance = result?.distance ?? null;
  return {
    isComplete: result !== null,
    distance: distance && viewForkDivergence(distance, repositoryUrl(found.canonical)),
  };
}

function emptyPage(frame: ReturnType<typeof frameOf>, branch: string): Reply {
  const {
    repository: { name },
    clone,
  } = frame;
  return page('repository/empty-repository', {
    ...frame,
    recipes: {
      https: viewPushInstructions(clone.https, name, branch),
      ssh: clone.ssh && viewPushInstructions(clone.ssh, name, branch),
    },
  });
}

/**
 * `/repos/{owner}/{name}`: clone box, files of the default branch, README; for an empty repository, push instructions.
 */
export const showRepository: Page<RepositoryContext, RepositoryDeps> = async (context, deps): Promise<Reply> => {
  const { found } = context;
  const [{ branch, oid }, credentials, access, pushed, elsewhere, topics, copy] = await Promise.all([
    deps.git.queries.cachedHead(found.path),
    dependOn(() => credentialsOf(context, deps)),
    dependOn(() => ownAccess(context, deps)),
    dependOn(() => readPushedBranches(context, deps)),
    dependOn(() => federationOf(context, deps)),
    dependOn(() => topicsOf(context, deps)),
    dependOn(() => copyOf(context, deps)),
  ]);
  const frame = {
    ...frameOf(context, deps),
    credentials: credentials.value,
    access: access.value,
    pushed: pushed.value,
    elsewhere: elsewhere.value,
    topics: topics.value,
    copy: copy.value,
    website: found.repository.website,
  };
  if (oid === null) return emptyPage(frame, branch ?? found.repository.defaultBranch);
  const at = headPath(branch, oid);
  const [place, { tree, isComplete, dependencies, ...folder }, facts, fork] = await Promise.all([
    readCodeNavigation(context, deps, at, 'tree'),
    readFolder(context, deps, at),
    readFacts(context, deps, at),
    dependOn(() => readDistance(context, deps, branch ?? 'HEAD')),
  ]);
  const licence = await readLicence(context, deps, at.ref, tree.entries);
  return page(
    'repository/repository-home',
    {
      ...frame,
      ...place,
      ...folder,
      ...facts,
      distance: fork.value.distance,
      licence,
      adding: addingLinks(context, at),
      isTemplate: found.repository.isTemplate && context.person !== null,
    },
    {
      restsOn:
        isComplete && facts.isComplete && fork.value.isComplete
          ? [credentials, access, pushed, elsewhere, topics, copy, fork, ...dependencies]
          : null,
    },
  );
};
