import { checked } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import type { MergeOutcome } from './merge-outcome.ts';
import { mergeTrees, temporaryCommit, treeOf } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

export interface RevertRequest {
  /** The tip of the branch. All are full ids. */
  onto: string;
  /** The state to revert, and the one before it. */
  from: string;
  to: string;
  message: string;
  author: Signature;
  committer: Signature;
  sign?: SignCommit | undefined;
}

/**
 * Reverts the changes between `to` and `from` on `onto` as one commit: a three-way merge whose base is `from`.
 * git-merge-tree(1) determines the base itself, so both sides become children of one temporary commit.
 */
export async function revertRange(workspace: MergeWorkspace, request: RevertRequest): Promise<MergeOutcome> {
  const { onto, from, to, message, author, committer, sign } = request;
  const [now, done, before] = await Promise.all([onto, from, to].map((oid) => treeOf(workspace, checked(oid))));
  const base = await workspace.writeTemporary(await temporaryCommit(done!, [], from));
  const ours = await workspace.writeTemporary(await temporaryCommit(now!, [base], onto));
  const theirs = await workspace.writeTemporary(await temporaryCommit(before!, [base], to));
  const merged = await mergeTrees(workspace, ours, theirs);
  if (merged.kind === 'unrelated') return merged;
  if (merged.kind === 'conflict') return { kind: 'conflict', files: merged.files, commit: null };
  if (merged.tree === now) return { kind: 'nothing' };
  const payload = await commitPayload({ tree: merged.tree, parents: [onto], author, committer, message }, sign);
  return { kind: 'merged', oid: await workspace.writeCommit(payload), commits: 1 };
}
