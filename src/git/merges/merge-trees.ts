import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** A file that git could not merge. */
export interface ConflictedFile {
  /** Bytes as in git; U+FFFD for those that are not UTF-8. */
  path: string;
  rawPath: Buffer;
}

export type MergedTrees =
  | { kind: 'clean'; tree: string }
  /** `tree` has the files with conflict markers. */
  | { kind: 'conflict'; tree: string; files: ConflictedFile[] }
  /** The two have no common ancestor. */
  | { kind: 'unrelated' };

/** Limit of conflicted files that are named. */
const maxFiles = 300;

/**
 * Merges two commits without a work tree (git-merge-tree(1)). Writes new objects to the workspace. Throws `internal` if
 * git fails or takes too long.
 */
export async function mergeTrees(workspace: MergeWorkspace, ours: string, theirs: string): Promise<MergedTrees> {
  const { code, output, errorText } = await workspace.run([
    'merge-tree',
    '--write-tree',
    '-z',
    '--name-only',
    '--no-messages',
    checked(ours),
    checked(theirs),
  ]);
  if (code !== 0 && code !== 1) {
    if (/unrelated histories/.test(errorText)) return { kind: 'unrelated' };
    throw internal('git could not merge', { cause: { code, errorText } });
  }
  // git also exits with 1 for a missing commit.
  if (output.length === 0) throw internal('git could not merge', { cause: { code, errorText } });
  return mergedTrees(code === 0, splitAtNul(output));
}

/**
 * Merges each of several commits with the same one by one process, which reads shared history and trees once. Stops at
 * a commit that cannot be merged at all. Throws as `mergeTrees`.
 * @returns by head; heads that git has not reached are missing
 */
export async function mergeEach(
  workspace: MergeWorkspace,
  ours: string,
  heads: readonly string[],
): Promise<Map<string, MergedTrees>> {
  const { output } = await workspace.run(
    ['merge-tree', '--stdin', '-z', '--name-only', '--no-messages'],
    heads.map((head) => `${checked(ours)} ${checked(head)}\n`).join(''),
  );
  const parts = splitAtNul(output);
  const merged = new Map<string, MergedTrees>();
  // A status, the tree, the names of files in conflict, and an empty part.
  for (let from = 0; merged.size < heads.length; ) {
    const end = parts.findIndex((part, at) => at > from && part.length === 0);
    const status = parts[from]?.toString('latin1');
    if (end === -1 || (status !== '0' && status !== '1')) break;
    merged.set(heads[merged.size]!, mergedTrees(status === '1', parts.slice(from + 1, end)));
    from = end + 1;
  }
  return merged;
}

function mergedTrees(isClean: boolean, [tree = Buffer.alloc(0), ...names]: readonly Buffer[]): MergedTrees {
  const oid = checked(tree.toString('latin1'));
  if (isClean) return { kind: 'clean', tree: oid };
  const files = names.slice(0, maxFiles).map((rawPath) => {
    // Copied: a slice would keep all of git's output in memory.
    const copy = Buffer.from(rawPath);
    return { path: copy.toString('utf8'), rawPath: copy };
  });
  return { kind: 'conflict', tree: oid, files };
}

/** Two commits to merge. */
export interface MergeSides {
  onto: string;
  head: string;
  /** The merge base, from which one of the two descends; by default git determines it. */
  base?: string | undefined;
}

/** Merges two commits; see {@link sidesFrom}. */
export async function mergeFrom(workspace: MergeWorkspace, sides: MergeSides): Promise<MergedTrees> {
  const { ours, theirs } = await sidesFrom(workspace, sides);
  return mergeTrees(workspace, ours, theirs);
}

/**
 * The commits that are passed to git-merge-tree(1). It determines the merge base itself, so for a given base, the side
 * that does not descend from it becomes a temporary child of it with the same tree.
 */
export async function sidesFrom(
  workspace: MergeWorkspace,
  { onto, head, base }: MergeSides,
): Promise<{ ours: string; theirs: string }> {
  if (base === undefined) return { ours: onto, theirs: head };
  const { code } = await workspace.run(['merge-base', '--is-ancestor', checked(base), checked(head)]);
  const other = code === 0 ? onto : head;
  const payload = await temporaryCommit(await treeOf(workspace, other), [base], other);
  const moved = await workspace.writeTemporary(payload);
  return code === 0 ? { ours: moved, theirs: head } : { ours: onto, theirs: moved };
}

/** The tree of a commit. Throws `internal` if it is missing. */
export async function treeOf(workspace: MergeWorkspace, commit: string): Promise<string> {
  const { code, output, errorText } = await workspace.run(['rev-parse', '--verify', `${checked(commit)}^{tree}`]);
  if (code !== 0) throw internal('a commit is missing', { cause: { commit, errorText } });
  return output.toString('latin1').trim();
}

const none: Signature = { name: 'server', email: 'server@localhost', at: 0, offsetMinutes: 0 };

/** A temporary commit for a merge only. */
export const temporaryCommit = (tree: string, parents: readonly string[], message: string): Promise<Buffer> =>
  commitPayload({ tree, parents, author: none, committer: none, message });

/** Splits git's output into its NUL-terminated parts. */
function splitAtNul(output: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    const part = output.subarray(from, end === -1 ? output.length : end);
    parts.push(part);
    from += part.length + 1;
  }
  return parts;
}
