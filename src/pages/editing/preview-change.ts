import type { PatchLimits } from '../../git/index.ts';
import type { Found, FileOperation } from '../../repositories/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { viewChangedFile } from '../code/changed-file.view.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import type { EditingDeps } from './deps.ts';
import type { EditTarget } from './edit-target.ts';

const limits: PatchLimits = { files: 20, linesPerFile: 3_000, bytesPerLine: 5_100, bytes: 1024 * 1024 };

/** Previews a change on the current branch. Throws the same errors as the commit. */
export async function previewChange(
  deps: EditingDeps,
  found: Found,
  { viewer, tip }: EditTarget,
  operations: readonly FileOperation[],
) {
  const { files, patches } = await deps.repositories.contents.preview(viewer, found, tip, { operations }, limits);
  const tabsOf = await readTabClasses(
    { found },
    deps,
    tip,
    files.slice(0, limits.files).map(({ newPath }) => newPath.toString()),
  );
  const byFile = new Map(patches.map((patch) => [patch.file.newPath.toString('latin1'), patch]));
  const context = {
    repositoryUrl: repositoryUrl(found.canonical),
    from: null,
    to: '',
    layout: 'unified' as const,
    tabsOf,
    loadUrl: () => '',
    coloursOf: () => undefined,
    marksOf: () => undefined,
    sizeOf: () => null,
  };
  return files.slice(0, limits.files).map((file, index) => ({
    ...viewChangedFile(file, byFile.get(file.newPath.toString('latin1')), index, context),
    // The target commit of these links no longer exists.
    url: null,
    load: null,
    images: null,
  }));
}
