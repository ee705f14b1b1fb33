import type { ChangedFile, Patch } from '../../git/index.ts';
import type { ImageSize } from '../../images/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';
import { codeUrl, encodePath } from '../app/code-urls.ts';
import { withNotes } from './annotations.view.ts';
import type { LineNotes } from './annotations.view.ts';
import { splitRows, unifiedRows } from './diff-lines.view.ts';
import type { Colours, WordMarks } from './diff-lines.view.ts';
import { imageType } from './media-types.ts';
import type { IsGenerated } from './generated-files.ts';
import type { TabClasses } from './read-editor-configs.ts';

type DiffLayout = 'unified' | 'split';

interface PictureView extends Partial<ImageSize> {
  url: string;
}

/** One file of a comparison. */
export interface ChangedFileView {
  anchor: string;
  status: string;
  /** What the file is called, and was called when that differs. */
  path: string;
  oldPath: string | null;
  /** `mode 100644 → 100755`, `97 % the same`. */
  notes: string[];
  added: number | null;
  removed: number | null;
  /** The whole file after the change; null when it is gone or is no file. */
  url: string | null;
  /** Rows of a table, escaped; null when there is nothing to show line by line. */
  html: string | null;
  layout: DiffLayout;
  /** The class of its width of a tab; null for the default. */
  tabs: string | null;
  /** Before and after, for pictures. */
  images: { old: PictureView | null; fresh: PictureView | null } | null;
  /** Made by a program: it is folded. */
  isGenerated: boolean;
  /** Why no lines are shown. */
  reason: string | null;
  /** This page with this file in full. */
  load: string | null;
}

interface DiffContext {
  repositoryUrl: string;
  /** Commit ids of both sides; `from` null when there was nothing before. */
  from: string | null;
  to: string;
  layout: DiffLayout;
  /** The width of tabs in the newer version. */
  tabsOf: TabClasses;
  /** Left out where no file is folded. */
  isGenerated?: IsGenerated;
  /** An address that shows one file alone, with wider limits. */
  loadUrl(file: ChangedFile): string;
  /** The link that shows more lines around the changes of a file, as HTML. */
  moreLinesOf?(file: ChangedFile): string;
  /** Undefined for a file without highlighting. */
  coloursOf(file: ChangedFile): Colours | undefined;
  /** Undefined for a file whose words were not compared. */
  marksOf(file: ChangedFile): WordMarks | undefined;
  /** What jobs say about lines of the newer version. */
  notesOf?(file: ChangedFile): LineNotes;
  /** Of a blob that is a picture; null when unknown. */
  sizeOf(oid: string): ImageSize | null;
}

const modes: Readonly<Record<string, string>> = translated({
  '100644': 'file',
  '100755': 'executable',
  '120000': 'code.changed_file.symbolic_link',
  '160000': 'submodule',
  '040000': 'folder',
});
const nothing = /^0+$/;

function notesOf({ status, oldMode, newMode, similarity, oldOid, newOid }: ChangedFile): string[] {
  const notes: string[] = [];
  if (similarity !== null) notes.push(t('code.changed_file.similarity_similar', { similarity }));
  if (oldMode !== newMode && !nothing.test(oldMode) && !nothing.test(newMode))
    notes.push(`${modes[oldMode] ?? oldMode} → ${modes[newMode] ?? newMode}`);
  else if (status === 'added' && newMode !== '100644') notes.push(modes[newMode] ?? newMode);
  if (newMode === '160000' && !nothing.test(oldOid)) notes.push(`${oldOid.slice(0, 10)} → ${newOid.slice(0, 10)}`);
  return notes;
}

/** Whether both sides of a file are shown as pictures. */
export const isImageFile = (file: ChangedFile): boolean =>
  file.added === null && imageType(file.newPath.toString()) !== null;

function imagesOf(
  file: ChangedFile,
  { repositoryUrl, from, to, sizeOf }: Pick<DiffContext, 'repositoryUrl' | 'from' | 'to' | 'sizeOf'>,
): ChangedFileView['images'] {
  if (!isImageFile(file)) return null;
  const at = (commit: string | null, mode: string, path: Buffer, blob: string): PictureView | null =>
    commit === null || nothing.test(mode) || mode === '120000'
      ? null
      : { url: codeUrl(repositoryUrl, 'raw', commit, path), ...sizeOf(blob) };
  return {
    old: at(from, file.oldMode, file.oldPath, file.oldOid),
    fresh: at(to, file.newMode, file.newPath, file.newOid),
  };
}

function reasonOf(file: ChangedFile, patch: Patch | undefined): string | null {
  if (patch === undefined)
    return file.oldOid === file.newOid || (file.added === 0 && file.removed === 0)
      ? null
      : t('code.changed_file.not_shown_because_this_page_is');
  if (patch.isTooLarge)
    return t('code.changed_file.lines_too_many_to_show_here', {
      lines: viewCount((file.added ?? 0) + (file.removed ?? 0), 'changed line'),
    });
  if (patch.isBinary) return t('code.changed_file.binary_file');
  return null;
}

/** Whether a patch has lines to show. */
export const hasLines = (patch: Patch | undefined): patch is Patch =>
  patch !== undefined && !patch.isTooLarge && patch.hunks.length > 0;

/** @param patch undefined when the limits of the page left this file out */
export function viewChangedFile(
  file: ChangedFile,
  patch: Patch | undefined,
  index: number,
  context: DiffContext,
): ChangedFileView {
  const [rowsOf, columns] = context.layout === 'split' ? [splitRows, 4] : [unifiedRows, 3];
  const notes = context.notesOf?.(file) ?? new Map();
  const more = context.moreLinesOf?.(file) ?? '';
  const additions = { beside: () => '', afterRange: () => more };
  const html = hasLines(patch)
    ? withNotes(rowsOf(patch, context.coloursOf(file), context.marksOf(file), additions), notes, columns)
        .map((row) => row.html)
        .join('')
    : null;
  return { ...describeChangedFile(file, patch, context), anchor: `file-${index + 1}`, html };
}

/** All of a file but its lines. @param patch as for `viewChangedFile` */
export function describeChangedFile(
  file: ChangedFile,
  patch: Patch | undefined,
  context: Omit<DiffContext, 'coloursOf' | 'marksOf'>,
): Omit<ChangedFileView, 'anchor' | 'html'> {
  const { repositoryUrl, to, layout } = context;
  const isGone = file.status === 'deleted' || file.newMode === '160000';
  const images = imagesOf(file, context);
  const reason = !hasLines(patch) && images === null ? reasonOf(file, patch) : null;
  const isMoved = !file.oldPath.equals(file.newPath);
  return {
    status: file.status,
    path: viewName(file.newPath.toString()),
    oldPath: isMoved ? viewName(file.oldPath.toString()) : null,
    notes: notesOf(file),
    added: file.added,
    removed: file.removed,
    url: isGone ? null : codeUrl(repositoryUrl, 'blob', to, file.newPath),
    layout,
    tabs: context.tabsOf(file.newPath.toString()),
    images,
    isGenerated: context.isGenerated?.(file.newPath.toString()) ?? false,
    reason,
    load: reason !== null && patch?.isBinary !== true ? context.loadUrl(file) : null,
  };
}

/** `?file=` of a page with a comparison: the path, each byte that is not plain percent-encoded. */
export const fileParameter = (path: Buffer): string => encodePath(path);
