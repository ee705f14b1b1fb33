import { hash } from 'node:crypto';
import type { ChangedFile, Patch } from '../../git/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { pathText } from '../../pulls/index.ts';
import type { ViewedFileRow } from '../../pulls/index.ts';
import { encodePath } from '../app/code-urls.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { readAnnotations, withNotes } from '../code/annotations.view.ts';
import { describeChangedFile, hasLines, isImageFile } from '../code/changed-file.view.ts';
import { escapeHtml } from '../app/code-html.ts';
import { highlightPatches } from '../code/highlight-patches.ts';
import { moreLinesLink } from '../code/context-lines.ts';
import { splitRows, unifiedRows } from '../code/diff-lines.view.ts';
import type { DiffRow, RowAdditions } from '../code/diff-lines.view.ts';
import { readGenerated } from '../code/generated-files.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import { markWords } from '../code/mark-words.ts';
import { readBlobImageSizes } from '../code/blob-image-size.ts';
import { formatPosition } from './changes-urls.ts';
import type { ChangesUrlBuilder, ChangesQuery } from './changes-urls.ts';
import type { PullsDeps } from './deps.ts';
import type { ReadChanges } from './read-changes.ts';
import { t } from '../../translation/index.ts';

/** Maximum number of files with their own heading; further files are only counted. */
const maxFiles = { page: 100, all: 300 };

/** Time that the page waits for highlighting and marked words; later results are on the next view. */
const decorationMs = 60;

/** The anchor of a file on any page of changes. */
export const fileAnchor = (path: Buffer): string => `f${hash('sha256', path).slice(0, 10)}`;

/** Rows of a table as HTML, and the threads below the last of them. */
interface RowsPart<Below> {
  html: string;
  below: Below[];
}

/** Threads and other additions at the lines of a file. */
interface InFile<Below> {
  atRow(row: DiffRow): Below[];
  rest(): Below[];
}

type ChangedFileView<Below> = ReturnType<typeof viewFile<Below>>;

interface FileContext<Below> {
  query: ChangesQuery;
  address: ChangesUrlBuilder;
  mayComment: boolean;
  /** Whether the older side is the base of the round. */
  isWhole: boolean;
  inFile(file: ChangedFile): InFile<Below>;
  /** Files that the viewer has marked as viewed; null where files cannot be marked. */
  viewed: readonly ViewedFileRow[] | null;
}

/** The files of a page, with their lines highlighted and words compared. */
export async function viewFiles<Below>(
  context: RepositoryContext,
  deps: PullsDeps,
  changes: ReadChanges,
  around: FileContext<Below>,
): Promise<{ files: ChangedFileView<Below>[]; hidden: number }> {
  const { found } = context;
  const { query, address } = around;
  const { only } = query;
  const wanted = only === null ? changes.files : changes.files.filter(({ newPath }) => newPath.equals(only));
  const shown = wanted.slice(0, query.isAll ? maxFiles.all : maxFiles.page);
  const [{ colours }, { marks }, sizes] = await Promise.all([
    highlightPatches(found.path, deps, changes.patches, decorationMs),
    markWords(found.path, deps, changes.patches, decorationMs),
    readBlobImageSizes(deps.git, found.path, shown.filter(isImageFile)),
  ]);
  const paths = shown.map(({ newPath }) => newPath.toString());
  const [tabsOf, isGenerated] = await Promise.all([
    readTabClasses(context, deps, changes.to, paths),
    // A file requested by itself is never folded.
    only === null ? readGenerated(context, deps, changes.to, paths) : undefined,
  ]);
  const annotations = await readAnnotations(context, deps, changes.to, paths);
  const patches = new Map(changes.patches.map((patch) => [patch.file.newPath.toString('latin1'), patch]));
  const diff = {
    repositoryUrl: repositoryUrl(found.canonical),
    from: changes.from,
    to: changes.to,
    layout: query.layout,
    tabsOf,
    ...(isGenerated && { isGenerated }),
    loadUrl: (file: ChangedFile) =>
      `${address({ file: encodePath(file.newPath), all: null })}#${fileAnchor(file.newPath)}`,
    sizeOf: (oid: string) => sizes.get(oid) ?? null,
  };
  return {
    files: shown.map((file) => {
      const patch = patches.get(file.newPath.toString('latin1'));
      const rows = hasLines(patch)
        ? (query.layout === 'split' ? splitRows : unifiedRows)(
            patch,
            colours.get(patch.file),
            marks.get(patch.file),
            additionsFor(file, patch, around),
          )
        : null;
      const annotated = rows && withNotes(rows, annotations.inFile(file.newPath), query.layout === 'split' ? 4 : 3);
      return viewFile(file, patch, annotated, around, describeChangedFile(file, patch, diff));
    }),
    hidden: wanted.length - shown.length,
  };
}

function viewFile<Below>(
  file: ChangedFile,
  patch: Patch | undefined,
  rows: readonly DiffRow[] | null,
  { address, mayComment, inFile, query, viewed }: FileContext<Below>,
  described: ReturnType<typeof describeChangedFile>,
) {
  const here = inFile(file);
  const parts = rows === null ? null : partsOf(rows, here);
  return {
    ...described,
    anchor: fileAnchor(file.newPath),
    parts,
    top: here.rest(),
    viewed: viewed && viewOfViewed(file, viewed, address),
    span: query.layout === 'split' ? 4 : 3,
    commentUrl: mayComment ? `${address({ comment: formatPosition(file.newPath, null) })}#comment` : null,
  };
}

/** Whether the viewer has viewed this content of a file, or another one. */
function viewOfViewed(file: ChangedFile, viewed: readonly ViewedFileRow[], address: ChangesUrlBuilder) {
  const path = pathText(file.newPath);
  const row = viewed.find((each) => each.path === path);
  const isSame = row?.oldBlob === file.oldOid && row.newBlob === file.newOid;
  return {
    path,
    oldBlob: file.oldOid,
    newBlob: file.newOid,
    state: row === undefined ? ('new' as const) : isSame ? ('viewed' as const) : ('changed' as const),
    sinceUrl:
      row === undefined || isSame
        ? null
        : address({ from: String(row.round), file: encodePath(file.newPath), context: null, all: null }),
  };
}

function partsOf<Below>(rows: readonly DiffRow[], here: InFile<Below>): RowsPart<Below>[] {
  const parts: RowsPart<Below>[] = [];
  let html = '';
  for (const row of rows) {
    html += row.html;
    const below = row.old === null && row.fresh === null ? [] : here.atRow(row);
    if (below.length === 0) continue;
    parts.push({ html, below });
    html = '';
  }
  if (html !== '') parts.push({ html, below: [] });
  return parts;
}

/** The links at the lines of a file: to comment on one, and to show more lines around a change. */
function additionsFor<Below>(
  file: ChangedFile,
  patch: Patch,
  { query, address, mayComment, isWhole }: FileContext<Below>,
): RowAdditions {
  // The line numbers come last, so that the URL prefix is built once for each file.
  const places = { OLD: '', NEW: '' };
  for (const side of ['OLD', 'NEW'] as const)
    places[side] = escapeHtml(address({ comment: formatPosition(file.newPath, { side, line: 1 }) }).slice(0, -1));
  const { newPath } = file;
  const more = moreLinesLink(
    file,
    query.contextLines,
    (context) => `${address({ file: encodePath(newPath), context, all: null })}#${fileAnchor(newPath)}`,
  );
  return {
    beside: (side, line) =>
      mayComment && (isWhole || side === 'NEW')
        ? `<a class="add" href="${places[side]}${line}#comment" tabindex="-1" aria-label="${escapeHtml(t('pulls.changed_files.comment_on_line', { line }))}">+</a>`
        : '',
    afterRange: () => more,
  };
}
