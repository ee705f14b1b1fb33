import { allows } from '../../access/index.ts';
import type { RefPath, TreeEntry } from '../../git/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import type { RepositoryContext } from '../app/request-context.ts';

/** Whether the page offers to change files: on branches, to users who can push or propose changes. */
function mayChange({ viewer, found: { repository, level, issues } }: RepositoryContext, { kind }: RefPath): boolean {
  if (viewer.kind !== 'person' || kind !== 'branch' || repository.archivedAt !== null) return false;
  return allows(level, 'write') || issues.pulls.isOn;
}

/** URLs to edit and delete a file; both null where editing is not offered. */
export function editingLinks(context: RepositoryContext, at: RefPath, { kind }: TreeEntry) {
  const isFile = kind === 'file' || kind === 'executable';
  if (!isFile || !mayChange(context, at)) return { edit: null, removal: null };
  const url = repositoryUrl(context.found.canonical);
  return { edit: codeUrl(url, 'edit', at.ref, at.file), removal: codeUrl(url, 'delete', at.ref, at.file) };
}

/** URLs to add files to a folder; null where that is not offered. */
export function addingLinks(context: RepositoryContext, at: RefPath) {
  if (!mayChange(context, at)) return null;
  const url = repositoryUrl(context.found.canonical);
  return { file: codeUrl(url, 'new', at.ref, at.file), upload: codeUrl(url, 'upload', at.ref, at.file) };
}
