import { formatNumber, t, translated } from '../../translation/index.ts';
import type { LastCommit, LastCommits, RefPath, Tree, TreeEntry } from '../../git/index.ts';
import { codeUrl, commitUrl, encodePath, joinPath, splitPath } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewSize } from '../app/format-numbers.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';
import { viewLinkedText } from '../markdown/linked-text.ts';
import type { TextPart } from '../markdown/linked-text.ts';
import { noReferences } from '../markdown/reference-links.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';

interface FileRowView {
  name: string;
  url: string;
  /** The icon's name and its label. */
  icon: 'folder' | 'file' | 'symlink' | 'submodule';
  kind: string;
  isExecutable: boolean;
  /** The abbreviated commit of a submodule; null for other entries. */
  commit: string | null;
  /** Null for entries without a size. */
  size: string | null;
  /** Null while unknown. */
  last: { subject: string; subjectParts: TextPart[] | null; url: string; at: TimeView } | null;
}

interface FileTableView {
  rows: FileRowView[];
  /** The parent folder; null at the root. */
  parent: string | null;
  /** A notice when entries are omitted. */
  cut: string | null;
  /** Last commits of some rows are still being searched. */
  isWaiting: boolean;
}

/** More rows would only make the page slow. */
export const maxRows = 1_000;

const kinds: Record<TreeEntry['kind'], Pick<FileRowView, 'icon' | 'kind'>> = translated({
  folder: { icon: 'folder', kind: 'code.file_table.folder' },
  file: { icon: 'file', kind: 'code.file_table.file' },
  executable: { icon: 'file', kind: 'code.file_table.executable_file' },
  symlink: { icon: 'symlink', kind: 'code.file_table.symbolic_link' },
  submodule: { icon: 'submodule', kind: 'code.file_table.submodule' },
});

interface TableContext {
  repositoryUrl: string;
  at: RefPath;
  last: LastCommits;
  /** Milliseconds since the epoch. */
  now: number;
  /** No sizes when absent. */
  references?: ReferenceLinks;
  /** The URL of a submodule on this server, by its path and commit; null for others. */
  submoduleUrl?: (file: Buffer, oid: string) => string | null;
}

const isFolderLike = ({ kind }: TreeEntry): boolean => kind === 'folder' || kind === 'submodule';

/** Many rows share a commit, and formatting a time is expensive. */
function createCommitViews({
  repositoryUrl,
  now,
  references = noReferences,
}: TableContext): (commit: LastCommit) => NonNullable<FileRowView['last']> {
  const views = new Map<string, NonNullable<FileRowView['last']>>();
  return ({ oid, subject, at }) => {
    const text = viewName(subject) || t('code.file_table.no_message');
    const known = views.get(oid) ?? {
      subject: text,
      subjectParts: viewLinkedText(text, references),
      url: commitUrl(repositoryUrl, oid),
      at: viewTime(at, now),
    };
    views.set(oid, known);
    return known;
  };
}

/** The URL prefix of a folder's entries. */
function entryUrls({ repositoryUrl, at }: TableContext): Record<'tree' | 'blob', string> {
  const start = (page: 'tree' | 'blob') => `${codeUrl(repositoryUrl, page, at.ref, at.file)}/`;
  return { tree: start('tree'), blob: start('blob') };
}

function viewFileRow(
  entry: TreeEntry,
  { at, last, submoduleUrl }: TableContext,
  viewCommit: ReturnType<typeof createCommitViews>,
  urls: ReturnType<typeof entryUrls>,
): FileRowView {
  const { name, rawName, kind, size, oid } = entry;
  const commit = last.rows.get(rawName.toString('latin1'));
  return {
    ...kinds[kind],
    name: viewName(name),
    url:
      (kind === 'submodule' && submoduleUrl?.(joinPath(at.file, rawName), oid)) ||
      urls[isFolderLike(entry) ? 'tree' : 'blob'] + encodePath(rawName),
    commit: kind === 'submodule' ? oid.slice(0, 10) : null,
    isExecutable: kind === 'executable',
    size: size === null || kind === 'symlink' ? null : viewSize(size),
    last: commit ? viewCommit(commit) : null,
  };
}

/** The entries of a folder: folders first, each kind in git's own order. */
export function viewFileTable({ entries, truncated }: Tree, context: TableContext): FileTableView {
  const { repositoryUrl, at, last } = context;
  const viewCommit = createCommitViews(context);
  const urls = entryUrls(context);
  const rows = [...entries.filter(isFolderLike), ...entries.filter((entry) => !isFolderLike(entry))];
  return {
    rows: rows.slice(0, maxRows).map((entry) => viewFileRow(entry, context, viewCommit, urls)),
    parent: at.file.length === 0 ? null : codeUrl(repositoryUrl, 'tree', at.ref, splitPath(at.file).folder),
    cut:
      truncated || rows.length > maxRows
        ? t('code.file_table.this_folder_has_more_than_max', { max_rows: formatNumber(maxRows) })
        : null,
    isWaiting: !last.isComplete,
  };
}
