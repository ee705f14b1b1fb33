import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { lineSplitter, readGit } from './read-git.ts';

export interface ListedFile {
  /** The whole path. */
  path: Buffer;
  /** Id of the blob. */
  oid: string;
  size: number;
}

/** Every file below a commit's root, without symbolic links and submodules, at most `limit`. Throws `git_busy`. */
export async function listFiles(
  deps: BrowseDeps,
  path: string,
  oid: string,
  { limit }: { limit: number },
): Promise<{ files: ListedFile[]; truncated: boolean }> {
  const files: ListedFile[] = [];
  const splitter = lineSplitter(0, (line) => {
    const tab = line.indexOf(0x09);
    const [, oid, size] = /^100\d\d\d blob (\S+) +(\d+)$/.exec(line.toString('latin1', 0, tab)) ?? [];
    // Copied: the line is a view of a larger chunk.
    if (oid !== undefined) files.push({ path: Buffer.from(line.subarray(tab + 1)), oid, size: Number(size) });
    return files.length < limit;
  });
  const whole = await readGit(deps, path, ['ls-tree', '-r', '-l', '-z', checked(oid)], splitter.feed);
  return { files, truncated: !whole };
}
