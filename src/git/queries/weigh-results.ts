import type { Blob, Tree } from '../objects/browse.ts';
import type { Commit } from '../objects/parse-objects.ts';
import type { Blame } from './blame.ts';
import type { Moves } from './history.ts';
import type { DiffList } from './list-diff.ts';
import type { ListedFile } from './list-files.ts';

/**
 * Memory size of a cached result in bytes: its text, and V8's overhead per object and buffer, as measured in heap
 * snapshots. Estimates; the limits allow for that.
 */
const bytesPer = {
  /** A result and its cache entry, without the key. */
  result: 300,
  /** An object with a file path as a buffer, its ids and numbers. */
  file: 500,
  /** A line in a buffer of its own. */
  line: 180,
  commit: 1_000,
  group: 400,
} as const;

export const weighSmall = (): number => bytesPer.result;

export const weighLastChange = (commit: Commit | null): number =>
  bytesPer.result + (commit === null ? 0 : bytesPer.commit + 2 * commit.message.length);

export const weighCommit = ({ message, signature }: Commit): number =>
  bytesPer.result + bytesPer.commit + 2 * message.length + (signature === null ? 0 : 2_000);

export const weighMoves = (moves: Moves): number => bytesPer.result + moves.size * bytesPer.file;

export const weighBlob = ({ content }: Blob): number => bytesPer.result + (content?.length ?? 0);

export const weighFolder = ({ entries }: Pick<Tree, 'entries'>): number =>
  bytesPer.result + entries.length * bytesPer.file;

export const weighList = ({ files }: Pick<DiffList, 'files'>): number => bytesPer.result + files.length * bytesPer.file;

export const weighFiles = ({ files }: { files: readonly ListedFile[] }): number =>
  bytesPer.result + files.length * bytesPer.file;

export const weighBlame = ({ groups, commits }: Pick<Blame, 'groups' | 'commits'>): number =>
  bytesPer.result +
  commits.size * bytesPer.commit +
  groups.reduce(
    (sum, { lines }) => sum + bytesPer.group + lines.reduce((bytes, line) => bytes + bytesPer.line + line.length, 0),
    0,
  );
