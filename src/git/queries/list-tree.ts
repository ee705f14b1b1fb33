import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { lineSplitter, readGit } from './read-git.ts';

/** An entry of a tree, with its path relative to the listed root. */
export interface ListedEntry {
  path: Buffer;
  /** Octal: `040000`, `100644`, `100755`, `120000`, `160000`. */
  mode: string;
  type: 'tree' | 'blob' | 'commit';
  oid: string;
  /** Size of a blob in bytes. */
  size: number | null;
}

/** The entries of a tree or commit, optionally with those of all folders below, at most `limit`. Throws `git_busy`. */
export async function listTree(
  deps: BrowseDeps,
  path: string,
  oid: string,
  { limit, isRecursive }: { limit: number; isRecursive: boolean },
): Promise<{ entries: ListedEntry[]; truncated: boolean }> {
  const entries: ListedEntry[] = [];
  const splitter = lineSplitter(0, (line) => {
    const tab = line.indexOf(0x09);
    const [, mode, type, oid, size] =
      /^(\d{6}) (tree|blob|commit) (\S+) +(\d+|-)$/.exec(line.toString('latin1', 0, tab)) ?? [];
    if (mode !== undefined && entries.length < limit)
      entries.push({
        mode,
        type: type as ListedEntry['type'],
        oid: oid!,
        size: size === '-' ? null : Number(size),
        // Copied: the line is a view of a larger chunk.
        path: Buffer.from(line.subarray(tab + 1)),
      });
    return entries.length < limit;
  });
  const argv = ['ls-tree', ...(isRecursive ? ['-r', '-t'] : []), '-l', '-z', checked(oid)];
  const whole = await readGit(deps, path, argv, splitter.feed);
  return { entries, truncated: !whole };
}
