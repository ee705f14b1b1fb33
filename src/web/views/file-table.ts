import type { Tree, TreeEntry } from '../../git/index.ts';
import { viewName } from './plain-text.ts';
import { viewSize } from './sizes.ts';

export interface FileRowView {
  name: string;
  /** The icon's name, and what it says. */
  icon: 'folder' | 'file' | 'symlink' | 'submodule';
  kind: string;
  /** Null for what has no size of its own. */
  size: string | null;
}

export interface FileTableView {
  rows: FileRowView[];
  /** A sentence when not everything is shown. */
  cut: string | null;
}

/** More rows than this nobody reads; the page would only be slow. */
export const maxRows = 1_000;

const kinds: Record<TreeEntry['kind'], Pick<FileRowView, 'icon' | 'kind'>> = {
  folder: { icon: 'folder', kind: 'Folder' },
  file: { icon: 'file', kind: 'File' },
  executable: { icon: 'file', kind: 'Executable file' },
  symlink: { icon: 'symlink', kind: 'Symbolic link' },
  submodule: { icon: 'submodule', kind: 'Submodule' },
};

const isFolderLike = ({ kind }: TreeEntry): boolean => kind === 'folder' || kind === 'submodule';

function viewFileRow({ name, kind, size }: TreeEntry): FileRowView {
  return { ...kinds[kind], name: viewName(name), size: size === null ? null : viewSize(size) };
}

/** The entries of a folder: folders first, each kind in git's own order. */
export function viewFileTable({ entries, truncated }: Tree): FileTableView {
  const rows = [...entries.filter(isFolderLike), ...entries.filter((entry) => !isFolderLike(entry))];
  return {
    rows: rows.slice(0, maxRows).map(viewFileRow),
    cut: truncated || rows.length > maxRows ? `This folder has more than ${maxRows.toLocaleString('en')} entries; these are the first.` : null,
  };
}
