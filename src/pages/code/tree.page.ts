import type { RefPath, TreeEntry } from '../../git/index.ts';
import { movedTo, page, type Reply } from '../app/reply.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { maxRows, viewFileTable } from './file-table.view.ts';
import { findReadme, maxReadmeBytes, prepareReadme, referencesOfReadme, viewReadme } from './readme.view.ts';
import type { PreparedReadme } from './readme.view.ts';
import { remoteImagesOf } from '../markdown/remote-images.ts';
import { repositoryLinks } from '../markdown/repository-links.ts';
import type { DocumentLocation } from '../markdown/repository-links.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { addingLinks } from './editing-links.ts';
import { readCodeNavigation, resolveLocation } from './resolve-location.ts';
import { setImageSizes } from './blob-image-size.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

/** How long a page waits for rows of the last-commit column that are not known yet. */
const waitMs = 200;

/** A folder's rows and README, and the commit that it shows. */
export async function readFolder(context: RepositoryContext, deps: CodeDeps, at: RefPath) {
  const { found } = context;
  const { git, clock } = deps;
  const url = repositoryUrl(found.canonical);
  const [tree, commit, statuses] = await Promise.all([
    git.queries.folder(found.path, at.oid, at.file, { maxEntries: maxRows + 1 }),
    git.objects.commit(found.path, at.oid),
    readCommitStatuses(context, deps, [at.oid]),
  ]);
  const authors = await authorsOfCommits(deps, [commit]);
  const now = clock.now();
  const shown = tree.entries.slice(0, maxRows);
  const last = await git.queries.lastCommits(found.path, {
    oid: at.oid,
    folder: at.file,
    names: shown.map(({ rawName }) => rawName),
    waitMs,
  });
  const place = { repositoryUrl: url, ref: at.ref, folder: at.file, ...remoteImagesOf(found, deps, context.origin) };
  const prepared = await readReadme(context, deps, tree.entries, place);
  const references = await readCommitReferences(
    context,
    deps,
    [commit.subject, ...[...last.rows.values()].map(({ subject }) => subject)],
    referencesOfReadme(prepared),
  );
  const links = repositoryLinks(place);
  const readme = prepared && viewReadme(prepared, { links, references, origin: context.origin, taskForm: null });
  if (readme?.html) readme.html = await setImageSizes(git, found.path, url, at, readme.html);
  return {
    tree,
    files: viewFileTable(tree, { repositoryUrl: url, at, last, now, references }),
    commit: viewCommitLine(commit, url, now, authors, statuses.of(at.oid), references),
    dependencies: [authors.dependency, statuses.dependency, references.dependency],
    readme,
    isComplete: last.isComplete && readme?.isFinal !== false,
  };
}

async function readReadme(
  { found, origin }: RepositoryContext,
  { git, workers }: CodeDeps,
  entries: readonly TreeEntry[],
  { repositoryUrl: client, showsRemoteImages }: DocumentLocation,
): Promise<PreparedReadme | null> {
  const entry = findReadme(entries);
  if (entry === null) return null;
  const { content } = await git.objects.blob(found.path, entry.oid, { maxBytes: maxReadmeBytes });
  return prepareReadme(workers, entry, content, { client, showsRemoteImages, origin });
}

/** `B/tree/{ref}/{path}`: a folder. */
export const showTree: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const at = await resolveLocation(context, deps);
  if (at.file.length > 0) {
    const entry = await deps.git.objects.entryAt(context.found.path, at.oid, at.file);
    if (entry.type === 'blob') return movedTo(codeUrl(repositoryUrl(context.found.canonical), 'blob', at.ref, at.file));
    if (entry.kind === 'submodule') return showSubmodule(context, deps, at, entry.oid);
  }
  const [frame, { files, commit, dependencies, readme, isComplete }] = await Promise.all([
    readCodeNavigation(context, deps, at, 'tree'),
    readFolder(context, deps, at),
  ]);
  return page(
    'code/tree',
    { ...frame, files, commit: at.file.length === 0 ? commit : null, readme, adding: addingLinks(context, at) },
    { restsOn: isComplete ? dependencies : null },
  );
};

/** The files of a submodule are in another repository; all there is here is its commit and address. */
async function showSubmodule(context: RepositoryContext, deps: CodeDeps, at: RefPath, oid: string): Promise<Reply> {
  const frame = await readCodeNavigation(context, deps, at, 'tree');
  return page(
    'code/submodule',
    { ...frame, oid, address: await submoduleAddress(context.found.path, deps, at) },
    { restsOn: [] },
  );
}

const maxModulesBytes = 64 * 1024;

/** The `url` that `.gitmodules` gives to a path; shown as text, and as a link only when a browser can open it. */
async function submoduleAddress(
  path: string,
  { git }: CodeDeps,
  at: RefPath,
): Promise<{ text: string; link: string | null } | null> {
  try {
    const { oid } = await git.objects.entryAt(path, at.oid, '.gitmodules');
    const { content } = await git.objects.blob(path, oid, { maxBytes: maxModulesBytes });
    const section = content
      ?.toString()
      .split(/^\s*\[/m)
      .find((part) => /^\s*path\s*=\s*(.*?)\s*$/m.exec(part)?.[1] === at.file.toString());
    const text = /^\s*url\s*=\s*(.*?)\s*$/m.exec(section ?? '')?.[1];
    return text === undefined ? null : { text, link: /^https?:\/\//.test(text) ? text : null };
  } catch {
    return null;
  }
}
