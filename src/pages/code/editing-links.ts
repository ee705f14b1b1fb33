import { allows } from '../../access/index.ts';
import type { RefPath, TreeEntry } from '../../git/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import type { RepositoryContext } from '../app/request-context.ts';

/** Whether the pages that change files are offered: on branches, to people who may push or propose. */
function mayChange({ viewer, found: { repository, level, issues } }: RepositoryContext, { kind }: RefPath): boolean {
  if (viewer.kind !== 'person' || kind !== 'branch' || repository.archivedAt !== null) return false;
  return allows(level, 'write') || issues.pulls.isOn;
}

/** Where a file is edited and deleted; both null where they are not offered. */
export function editingLinks(context: RepositoryContext, at: RefPath, { kind }: TreeEntry) {
  const isFile = kind === 'file' || kind === 'executable';
  if (!isFile || !mayChange(context, at)) return { edit: null, removal: null };
  const url = repositoryUrl(context.found.canonical);
  return { edit: codeUrl(url, 'edit', at.ref, at.file), removal: codeUrl(url, 'delete', at.ref, at.file) };
}

/** Where files are added to a folder; null where that is not offered. */
export function addingLinks(context: RepositoryContext, at: RefPath) {
  if (!mayChange(context, at)) return null;
  const url = repositoryUrl(context.found.canonical);
  return { file: codeUrl(url, 'new', at.ref, at.file), upload: codeUrl(url, 'upload', at.ref, at.file) };
}
