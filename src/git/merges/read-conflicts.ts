import { checked, entryBelow, readCommit } from '../objects/browse.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import { conflictHunks } from './conflict-hunks.ts';
import type { ConflictLine } from './conflict-hunks.ts';
import { mergeTrees, sidesFrom } from './merge-trees.ts';
import type { ConflictedFile, MergeSides } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** A file that git could not merge, with the marked conflicts in it. */
export interface ConflictText extends ConflictedFile {
  /**
   * `marked`: `hunks` has its conflicts; `binary`, `too_large`: not shown; `gone_in_ours`, `gone_in_theirs`: one side
   * has no file of this name; `other`: modes, submodules, a folder in its place.
   */
  kind: 'marked' | 'binary' | 'too_large' | 'gone_in_ours' | 'gone_in_theirs' | 'other';
  hunks: ConflictLine[][];
  /** Whether lines beyond the limits were omitted. */
  cutShort: boolean;
}

export interface Conflicts {
  /** The first files, in git's order. */
  files: ConflictText[];
  /** Number of conflicted files, as far as git names them. */
  total: number;
}

/**
 * Limits of one merge: files whose conflicts are read, bytes per file, lines kept per file, and bytes kept in total.
 */
const limits = { files: 10, fileBytes: 1024 * 1024, linesPerFile: 200, bytes: 64 * 1024 };

/** git treats a file with NUL in its first bytes as binary. */
const probedBytes = 8_000;

/**
 * The files in which two commits conflict, with git's conflict markers: read from the tree that git-merge-tree(1)
 * writes, without a work tree. Null if they merge, or have no common history. Throws `internal` if git fails or takes
 * too long.
 */
export async function findConflicts(workspace: MergeWorkspace, sides: MergeSides): Promise<Conflicts | null> {
  const { ours, theirs } = await sidesFrom(workspace, sides);
  const merged = await mergeTrees(workspace, checked(ours), checked(theirs));
  if (merged.kind !== 'conflict') return null;
  // A side may be a temporary commit of the workspace.
  const named = new Map([
    [ours, sides.onto],
    [theirs, sides.head],
  ]);
  const files = await workspace.read(async (reader) => {
    const [ourTree, theirTree] = await Promise.all(
      [ours, theirs].map(async (oid) => (await readCommit(reader, oid)).tree),
    );
    const read: ConflictText[] = [];
    let bytes = limits.bytes;
    for (const file of merged.files.slice(0, limits.files)) {
      const content = await contentOf(reader, merged.tree, file.rawPath);
      const budget = { lines: limits.linesPerFile, bytes };
      const text = typeof content === 'string' ? noText : conflictHunks(content, { ours, theirs }, budget);
      bytes -= bytesOf(text.hunks);
      for (const line of text.hunks.flat()) if (line.kind === 'mark') line.text = renamed(line.text, named);
      const isMarked = text.hunks.length > 0 || text.cutShort;
      const gone = isMarked ? null : await goneSide(reader, { ours: ourTree!, theirs: theirTree! }, file.rawPath);
      const kind = isMarked ? 'marked' : (gone ?? (typeof content === 'string' ? content : 'other'));
      read.push({ ...file, kind, ...text });
    }
    return read;
  });
  return { files, total: merged.files.length };
}

function renamed(mark: Buffer, names: ReadonlyMap<string, string>): Buffer {
  const text = mark.toString('latin1');
  const [id] = /[0-9a-f]{40,64}/.exec(text) ?? [];
  return id === undefined ? mark : Buffer.from(text.replace(id, names.get(id) ?? id), 'latin1');
}

const noText = { hunks: [], cutShort: false };

/** Which side lacks a file of this name. */
async function goneSide(
  reader: ObjectReader,
  trees: { ours: string; theirs: string },
  path: Buffer,
): Promise<'gone_in_ours' | 'gone_in_theirs' | null> {
  if ((await entryBelow(reader, trees.ours, path)) === null) return 'gone_in_ours';
  return (await entryBelow(reader, trees.theirs, path)) === null ? 'gone_in_theirs' : null;
}

/** The file with conflict markers, or the reason why it is not read. */
async function contentOf(
  reader: ObjectReader,
  tree: string,
  path: Buffer,
): Promise<Buffer | 'binary' | 'too_large' | 'other'> {
  const entry = await entryBelow(reader, tree, path);
  if (entry === null || entry.type !== 'blob') return 'other';
  const [info] = await reader.infos([entry.oid]);
  if (info == null) return 'other';
  if (info.size > limits.fileBytes) return 'too_large';
  const content = (await reader.object(entry.oid))?.content ?? Buffer.alloc(0);
  return content.subarray(0, probedBytes).includes(0) ? 'binary' : content;
}

const bytesOf = (hunks: readonly ConflictLine[][]): number =>
  hunks.reduce((sum, lines) => sum + lines.reduce((all, { text }) => all + text.length, 0), 0);

/** Memory size of a result in bytes. */
export const weighConflicts = (conflicts: Conflicts | null): number =>
  (conflicts?.files ?? []).reduce(
    (sum, { rawPath, hunks }) =>
      sum + 2 * rawPath.length + bytesOf(hunks) + hunks.reduce((lines, hunk) => lines + 150 * hunk.length, 200),
    100,
  );
