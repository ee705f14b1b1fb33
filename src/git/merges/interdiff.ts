import type { BrowseDeps } from '../objects/browse.ts';
import type { ChangedFile } from '../queries/list-diff.ts';
import { readDiff } from '../queries/read-diff.ts';
import type { Patch, PatchLimits } from '../queries/read-patches.ts';
import { carryRange } from './range-diff.ts';
import type { CommitRange } from './range-diff.ts';
import type { ConflictedFile } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

export interface InterdiffRequest {
  before: CommitRange;
  after: CommitRange;
  /** Reads only the patch of the file with this new path; all files by default. */
  only?: Buffer | undefined;
  ignoreWhitespace?: boolean | undefined;
  contextLines?: number | undefined;
  limits: PatchLimits;
}

/** The author's changes between two versions of a series. */
export type Interdiff =
  | {
      /** Whether carrying caused a conflict: the older side of the patches then has conflict markers. */
      kind: 'clean' | 'conflict';
      conflicts: ConflictedFile[];
      files: ChangedFile[];
      /** Whether more files differ than are listed, or git ran out of time. */
      truncated: boolean;
      patches: Patch[];
      cutShort: boolean;
    }
  | { kind: 'unrelated' };

/**
 * Carries `before` onto the base of `after` and reads the difference to the head of `after` while the carried tree
 * exists: its objects vanish with the workspace. Its limits are those of `readDiff` and the workspace. Throws
 * `git_busy`, and `internal` if git fails or takes too long.
 */
export async function readInterdiff(
  deps: BrowseDeps,
  path: string,
  workspace: MergeWorkspace,
  { before, after, only, ignoreWhitespace = false, contextLines, limits }: InterdiffRequest,
): Promise<Interdiff> {
  const carried = await carryRange(workspace, before, after.base);
  if (carried.kind === 'unrelated') return carried;
  const { environment } = workspace;
  const range = { from: carried.tree, to: after.head };
  const request = { ...range, only, ignoreWhitespace, ...(contextLines === undefined ? {} : { contextLines }) };
  const diff = await readDiff(deps, path, request, limits, { environment });
  return { kind: carried.kind, conflicts: carried.kind === 'conflict' ? carried.files : [], ...diff };
}
