import { checked } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import { treeOf } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

export interface RootCommitRequest {
  /** The commit whose files the new one gets: a full id. */
  commit: string;
  message: string;
  author: Signature;
  committer: Signature;
  sign?: SignCommit | undefined;
}

/** Creates a commit without parents with the files of another one. @returns its id */
export async function createRootCommit(
  workspace: MergeWorkspace,
  { commit, message, author, committer, sign }: RootCommitRequest,
): Promise<string> {
  const tree = await treeOf(workspace, checked(commit));
  return workspace.writeCommit(await commitPayload({ tree, parents: [], author, committer, message }, sign));
}
