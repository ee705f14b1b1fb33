import type { BrowseDeps } from '../objects/browse.ts';
import { diffArguments, listDiff, maxListFields, parseDiffLists } from './list-diff.ts';
import type { ChangedFile, DiffList, DiffRange } from './list-diff.ts';
import { lineSplitter, readGit } from './read-git.ts';
import type { ReadOptions } from './read-git.ts';
import { PatchReader, readPatches } from './read-patches.ts';
import type { Patches, PatchLimits } from './read-patches.ts';

/** Parameters of a comparison: every file is listed; patches may be limited to one file. */
export interface DiffRequest extends Pick<DiffRange, 'from' | 'to' | 'ignoreWhitespace' | 'contextLines'> {
  /** The current name of the only file whose patch is wanted. */
  only?: Buffer | undefined;
}

/** The files that differ between two commits, and the patches of the first ones. */
export interface Diff extends DiffList, Patches {}

type Lister = (range: DiffRange) => Promise<DiffList>;

/**
 * The list of files and their patches. If all files are wanted unchanged, one process yields both, so that it searches
 * for renames and copies only once. Throws `git_busy`.
 * @param list lists the files of a range if that needs a separate query
 */
export async function readDiff(
  deps: BrowseDeps,
  path: string,
  { only, ...range }: DiffRequest,
  limits: PatchLimits,
  options: Pick<ReadOptions, 'environment'> = {},
  list: Lister = (listed) => listDiff(deps, path, listed, options),
): Promise<Diff> {
  // Line counts are those of the whole difference, including white space.
  if (only === undefined && range.ignoreWhitespace !== true) {
    const diff = await readAtOnce(deps, path, range, limits, options);
    if (diff !== null) return diff;
  }
  const { files, truncated } = await list({ from: range.from, to: range.to });
  const wanted = only === undefined ? files : files.filter(({ newPath }) => newPath.equals(only));
  const reading = only === undefined ? range : { ...range, only: wanted.flatMap(namesOf) };
  const read =
    wanted.length === 0
      ? { patches: [], cutShort: false }
      : await readPatches(deps, path, reading, wanted, limits, options);
  return { files, truncated, ...read };
}

const namesOf = ({ oldPath, newPath }: ChangedFile): Buffer[] =>
  oldPath.equals(newPath) ? [newPath] : [oldPath, newPath];

/** Null if the list is so long that the patches would come too late. */
async function readAtOnce(
  deps: BrowseDeps,
  path: string,
  range: DiffRange,
  limits: PatchLimits,
  options: Pick<ReadOptions, 'environment'>,
): Promise<Diff | null> {
  const fields: Buffer[] = [];
  let list: DiffList | null = null;
  let reader: PatchReader | null = null;
  const splitter = lineSplitter(
    () => (reader === null ? 0 : 0x0a),
    (line) => {
      if (reader !== null) return reader.take(line);
      if (line.length > 0) return fields.push(line) < maxListFields;
      // An empty field separates the lists from the patches.
      list = parseDiffLists(fields, true);
      reader = new PatchReader(list.files, limits);
      return true;
    },
  );
  const whole = await readGit(
    deps,
    path,
    diffArguments(range, '--raw', '--numstat', '--patch', '-z'),
    splitter.feed,
    options,
  );
  if (list === null || reader === null)
    return whole && fields.length === 0 ? { files: [], truncated: false, patches: [], cutShort: false } : null;
  if (whole) splitter.end();
  const { patches, hasEnough }: PatchReader = reader;
  return { ...(list as DiffList), patches, cutShort: !whole && !hasEnough };
}
