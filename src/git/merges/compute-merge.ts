import { internal } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { checked, readCommit } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import { mergeFrom } from './merge-trees.ts';
import type { MergeOutcome } from './merge-outcome.ts';
import type { MergeWorkspace } from './merge-workspace.ts';
import { pickCommits } from './pick-commits.ts';

/**
 * How commits get into a branch: a merge commit; one commit with all changes; each commit on top of the branch; a
 * fast-forward.
 */
export type MergeStyle = 'MERGE' | 'SQUASH' | 'REBASE' | 'FORWARD';

export interface MergeRequest {
  style: MergeStyle;
  /** The tip of the branch, and the commit to merge into it: full ids. */
  onto: string;
  head: string;
  /** The merge base: a full id from which `onto` or `head` descends. By default their common ancestor. */
  base?: string | undefined;
  /** Message and author of the new commit; a rebase keeps those of its commits. */
  message: string;
  author: Signature;
  committer: Signature;
  sign?: SignCommit | undefined;
}

/** Computes a merge in a workspace, without moving a ref. Throws `internal` if git fails or takes too long. */
export async function computeMerge(
  deps: BrowseDeps,
  path: string,
  workspace: MergeWorkspace,
  request: MergeRequest,
): Promise<MergeOutcome> {
  const { style, head, base, message, author, committer, sign } = request;
  const onto = checked(request.onto);
  if (style === 'FORWARD' || style === 'REBASE') {
    const { ahead, behind } = await distance(workspace, onto, checked(head));
    if (ahead === 0) return { kind: 'nothing' };
    if (style === 'REBASE') return pickCommits(deps, path, workspace, { ...request, isForward: behind === 0 });
    return behind === 0 ? { kind: 'merged', oid: head, commits: 0 } : { kind: 'not_forward' };
  }

  const merged = await mergeFrom(workspace, { onto, head: checked(head), base });
  if (merged.kind === 'unrelated') return merged;
  if (merged.kind === 'conflict') return { kind: 'conflict', files: merged.files, commit: null };
  // Empty commits count as commits; they are counted if no file differs.
  const { tree } = await deps.readers.use(path, (reader) => readCommit(reader, onto));
  if (merged.tree === tree && (await distance(workspace, onto, head)).ahead === 0) return { kind: 'nothing' };
  const parents = style === 'MERGE' ? [onto, head] : [onto];
  const payload = await commitPayload({ tree: merged.tree, parents, author, committer, message }, sign);
  return { kind: 'merged', oid: await workspace.writeCommit(payload), commits: 1 };
}

async function distance(workspace: MergeWorkspace, onto: string, head: string) {
  const { code, output, errorText } = await workspace.run([
    'rev-list',
    '--left-right',
    '--count',
    `${onto}...${head}`,
    '--',
  ]);
  const [behind, ahead] = output.toString('latin1').trim().split('\t').map(Number);
  if (code !== 0 || behind === undefined || ahead === undefined)
    throw internal('git could not compare commits', { cause: { code, errorText } });
  return { ahead, behind };
}
