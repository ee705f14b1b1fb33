import type { RefPath } from '../../git/index.ts';
import { yieldToEventLoop } from '../../kernel/index.ts';
import { movedTo, page, type Reply } from '../app/reply.ts';
import { codeUrl, joinPath } from '../app/code-urls.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { maxRows, viewFileTable } from './file-table.view.ts';
import { findReadmeFile } from './find-readme-file.ts';
import type { ReadmeFile } from './find-readme-file.ts';
import { maxReadBytes, prepareReadme, referencesOfReadme, viewReadme } from './readme.view.ts';
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
import { entryOrTarget } from './entry-or-target.ts';
import { readModules, resolveSubmodule } from './submodules.ts';

/** Time in milliseconds that a page waits for missing rows of the last-commit column. */
const waitMs = 200;

/** A folder's rows and README, and the commit that it shows. */
export async function readFolder(context: RepositoryContext, deps: CodeDeps, at: RefPath) {
  const { found } = context;
  const { git, clock } = deps;
  const url = repositoryUrl(found.canonical);
  const [tree, commit, statuses] = await Promise.all([
    git.queries.folder(found.path, at.oid, at.file, { maxEntries: maxRows + 1 }),
    git.queries.keptCommit(found.path, at.oid),
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
  const file = await findReadmeFile(git, found.path, at, tree.entries);
  const place = {
    repositoryUrl: url,
    ref: at.ref,
    folder: file?.folder ?? at.file,
    ...remoteImagesOf(found, deps, context.origin),
  };
  const prepared = await readReadme(context, deps, file, place);
  const references = await readCommitReferences(
    context,
    deps,
    // Many rows share a commit.
    [...new Set([commit.subject, ...[...last.rows.values()].map(({ subject }) => subject)])],
    referencesOfReadme(prepared),
  );
  const links = repositoryLinks(place);
  const modules = shown.some(({ kind }) => kind === 'submodule')
    ? await readModules(git, found.path, at.oid)
    : new Map<string, string>();
  const submoduleUrl = (file: Buffer, oid: string): string | null => {
    const address = modules.get(file.toString());
    if (address === undefined) return null;
    const to = resolveSubmodule(address, { origin: context.origin, repository: found.canonical, oid });
    return to.isHere ? to.link : null;
  };
  const readme = prepared && viewReadme(prepared, { links, references, origin: context.origin, taskForm: null });
  if (readme?.html) readme.html = await setImageSizes(git, found.path, url, at, readme.html);
  await yieldToEventLoop();
  return {
    tree,
    files: viewFileTable(tree, { repositoryUrl: url, at, last, now, references, submoduleUrl }),
    commit: viewCommitLine(commit, url, now, authors, statuses.of(at.oid), references),
    dependencies: [authors.dependency, statuses.dependency, references.dependency],
    readme: readme &&
      file && { ...readme, url: codeUrl(url, 'blob', at.ref, joinPath(file.folder, file.entry.rawName)) },
    isComplete: last.isComplete && readme?.isFinal !== false,
  };
}

async function readReadme(
  { found, origin }: RepositoryContext,
  { git, workers }: CodeDeps,
  file: ReadmeFile | null,
  { repositoryUrl: client, showsRemoteImages }: DocumentLocation,
): Promise<PreparedReadme | null> {
  if (file === null) return null;
  const { entry } = file;
  const { content } = await git.queries.keptBlob(found.path, entry.oid, { maxBytes: maxReadBytes });
  return prepareReadme(workers, entry, content, { client, showsRemoteImages, origin });
}

/** `B/tree/{ref}/{path}`: a folder. */
export const showTree: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const at = await resolveLocation(context, deps);
  if (at.file.length > 0) {
    const entry = await entryOrTarget(context, deps, at, 'tree');
    if (entry.kind === 'redirect') return entry;
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

/** The files of a submodule are in another repository; only its commit and URL are here. */
async function showSubmodule(context: RepositoryContext, deps: CodeDeps, at: RefPath, oid: string): Promise<Reply> {
  const { found, origin } = context;
  const frame = await readCodeNavigation(context, deps, at, 'tree');
  const url = (await readModules(deps.git, found.path, at.oid)).get(at.file.toString());
  return page(
    'code/submodule',
    {
      ...frame,
      oid,
      address: url === undefined ? null : resolveSubmodule(url, { origin, repository: found.canonical, oid }),
    },
    { restsOn: [] },
  );
}
