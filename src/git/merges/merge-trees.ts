import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** A file that git could not merge. */
export interface ConflictedFile {
  /** Bytes as git has them; U+FFFD for those that are not UTF-8. */
  path: string;
  rawPath: Buffer;
}

export type MergedTrees =
  | { kind: 'clean'; tree: string }
  /** `tree` has the files with conflict markers. */
  | { kind: 'conflict'; tree: string; files: ConflictedFile[] }
  /** The two have no common ancestor. */
  | { kind: 'unrelated' };

/** How many conflicted files are named. */
const maxFiles = 300;

/**
 * Merges two commits without a work tree (git-merge-tree(1)). New objects are written to the workspace. Refuses
 * `internal` when git fails or takes too long.
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
  const [tree = Buffer.alloc(0), ...names] = splitAtNul(output);
  const oid = checked(tree.toString('latin1'));
  if (code === 0) return { kind: 'clean', tree: oid };
  return {
    kind: 'conflict',
    tree: oid,
    files: names.slice(0, maxFiles).map((rawPath) => ({ path: rawPath.toString('utf8'), rawPath })),
  };
}

/**
 * Merges two commits, of which one descends from `base`, with that as their merge base: git-merge-tree(1) finds the
 * base by itself, so the tree of the other becomes that of a child of `base`. Without a base, where the two have parted.
 */
export async function mergeFrom(
  workspace: MergeWorkspace,
  { onto, head, base }: { onto: string; head: string; base?: string | undefined },
): Promise<MergedTrees> {
  if (base === undefined) return mergeTrees(workspace, onto, head);
  const { code } = await workspace.run(['merge-base', '--is-ancestor', checked(base), checked(head)]);
  const other = code === 0 ? onto : head;
  const moved = await childOf(workspace, base, other);
  return code === 0 ? mergeTrees(workspace, moved, head) : mergeTrees(workspace, onto, moved);
}

/** A temporary commit with the files of another one, as a child of `base`. @returns its id */
export async function childOf(workspace: MergeWorkspace, base: string, commit: string): Promise<string> {
  const payload = await temporaryCommit(await treeOf(workspace, commit), [checked(base)], commit);
  return workspace.writeTemporary(payload);
}

/** The tree of a commit. Refuses `internal` for one that is missing. */
export async function treeOf(workspace: MergeWorkspace, commit: string): Promise<string> {
  const { code, output, errorText } = await workspace.run(['rev-parse', '--verify', `${checked(commit)}^{tree}`]);
  if (code !== 0) throw internal('a commit is missing', { cause: { commit, errorText } });
  return output.toString('latin1').trim();
}

const none: Signature = { name: 'server', email: 'server@localhost', at: 0, offsetMinutes: 0 };

/** A commit that only a merge reads. */
export const temporaryCommit = (tree: string, parents: readonly string[], message: string): Promise<Buffer> =>
  commitPayload({ tree, parents, author: none, committer: none, message });

/** The parts of git's output, each of which ends with NUL. */
function splitAtNul(output: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    const part = output.subarray(from, end === -1 ? output.length : end);
    if (part.length > 0) parts.push(part);
    from += part.length + 1;
  }
  return parts;
}
