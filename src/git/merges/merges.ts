import type { Semaphore } from '../../kernel/index.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { memoize } from '../queries/memoize.ts';
import { weighPatches } from '../queries/read-patches.ts';
import type { PatchLimits } from '../queries/read-patches.ts';
import { readInterdiff } from './interdiff.ts';
import type { Interdiff, InterdiffRequest } from './interdiff.ts';
import { applyPatch } from './apply-patch.ts';
import type { AppliedPatch, PatchRequest } from './apply-patch.ts';
import { commitFiles, previewFiles } from './commit-files.ts';
import type { CommitFilesRequest, CommittedFiles, FilesPreview } from './commit-files.ts';
import { carryRange, pairCommits } from './range-diff.ts';
import type { CarriedRange, CommitRange, PairedCommit } from './range-diff.ts';
import { computeMerge } from './compute-merge.ts';
import type { MergeRequest } from './compute-merge.ts';
import { findConflicts, weighConflicts } from './read-conflicts.ts';
import type { Conflicts } from './read-conflicts.ts';
import type { MergeOutcome } from './merge-outcome.ts';
import { mergeEach, mergeFrom } from './merge-trees.ts';
import type { MergedTrees, MergeSides } from './merge-trees.ts';
import { revertRange } from './revert-range.ts';
import type { RevertRequest } from './revert-range.ts';
import { writeTag } from './write-tag.ts';
import type { TagRequest } from './write-tag.ts';
import { createRootCommit } from './create-root-commit.ts';
import type { RootCommitRequest } from './create-root-commit.ts';
import { openMergeWorkspace } from './merge-workspace.ts';
import type { MergeLimits, MergeWorkspace } from './merge-workspace.ts';

/** Merges without a work tree. All methods throw `git_busy`, and `internal` beyond their limits. */
export interface GitMerges {
  /** Computes a merge and stores its objects; the caller moves the branch. */
  merge(path: string, request: MergeRequest, signal?: AbortSignal): Promise<MergeOutcome>;
  /** Reverts a merge; stores the commit as `merge` does. */
  revert(path: string, request: RevertRequest, signal?: AbortSignal): Promise<MergeOutcome>;
  /** Stores the object of an annotated tag; the caller creates the ref. */
  writeTag(path: string, request: TagRequest, signal?: AbortSignal): Promise<string>;
  /** See {@link commitFiles}; the objects are stored, and the caller moves a branch. */
  commitFiles(path: string, request: CommitFilesRequest, signal?: AbortSignal): Promise<CommittedFiles>;
  /** See {@link applyPatch}; stores as `commitFiles` does, either all commits or none. */
  applyPatch(path: string, request: PatchRequest, signal?: AbortSignal): Promise<AppliedPatch>;
  /** See {@link createRootCommit}; stores as `commitFiles` does. */
  createRootCommit(path: string, request: RootCommitRequest): Promise<string>;
  /** See {@link previewFiles}; stores nothing. */
  previewFiles(path: string, request: CommitFilesRequest, limits: PatchLimits): Promise<FilesPreview>;
  /** Whether two commits merge, and where they conflict; stores nothing. Memoized. */
  tryMerge(path: string, sides: MergeSides): Promise<MergedTrees>;
  /** Tries several heads together at low cost, for later calls of `tryMerge`; see {@link mergeEach}. */
  tryMerges(path: string, onto: string, heads: readonly string[]): Promise<void>;
  /** See {@link findConflicts}; null if two commits merge. Memoized. */
  conflicts(path: string, sides: MergeSides): Promise<Conflicts | null>;
  /** See {@link carryRange}; stores nothing, so only the tree's id is of use. */
  tryCarry(path: string, range: CommitRange, onto: string, signal?: AbortSignal): Promise<CarriedRange>;
  /** See {@link readInterdiff}; memoized. */
  carriedDiff(path: string, request: InterdiffRequest): Promise<Interdiff>;
  /** See {@link pairCommits}; memoized. */
  pairCommits(path: string, before: CommitRange, after: CommitRange): Promise<PairedCommit[]>;
}

/** Size limit in bytes of cached interdiffs and conflict texts. */
const maxCarriedBytes = 16 * 1024 * 1024;
const maxConflictBytes = 8 * 1024 * 1024;

/** Size limit in bytes of cached merge attempts. */
const maxTriedBytes = 8 * 1024 * 1024;

/** Number of heads that one process merges: its limits are those of one merge. */
const mergedAtOnce = 25;

const limitsOf = (memoryLimitBytes: number): MergeLimits => ({
  timeLimitMs: 10_000,
  maxOutputBytes: 4 * 1024 * 1024,
  memoryLimitBytes,
});

/**
 * @param slots limits the number of concurrent merges
 */
export function createMerges(deps: BrowseDeps, slots: Semaphore): GitMerges {
  async function within<Result>(
    path: string,
    signal: AbortSignal | undefined,
    use: (workspace: MergeWorkspace) => Promise<Result>,
  ): Promise<Result> {
    const release = await slots.acquire({ repository: path }, signal);
    try {
      const workspace = await openMergeWorkspace(deps.runner, path, limitsOf(deps.limits.readMemoryBytes), signal);
      return await use(workspace).finally(() => workspace.dispose());
    } finally {
      release();
    }
  }

  const tryMerge = memoize(
    (path: string, sides: MergeSides) => within(path, undefined, (workspace) => mergeFrom(workspace, sides)),
    {
      maxBytes: maxTriedBytes,
      weigh: (merged) => 300 + (merged.kind === 'conflict' ? merged.files.length * 300 : 0),
    },
  );

  return {
    merge: (path, request, signal) =>
      within(path, signal, async (workspace) => {
        const outcome = await computeMerge(deps, path, workspace, request);
        if (outcome.kind === 'merged' && outcome.commits > 0) await workspace.publish();
        return outcome;
      }),
    revert: (path, request, signal) =>
      within(path, signal, async (workspace) => {
        const outcome = await revertRange(workspace, request);
        if (outcome.kind === 'merged') await workspace.publish();
        return outcome;
      }),
    commitFiles: (path, request, signal) =>
      within(path, signal, async (workspace) => {
        const committed = await commitFiles(deps, path, workspace, request);
        await workspace.publish();
        return committed;
      }),
    applyPatch: (path, request, signal) =>
      within(path, signal, async (workspace) => {
        const applied = await applyPatch(workspace, request);
        await workspace.publish();
        return applied;
      }),
    writeTag: (path, request, signal) =>
      within(path, signal, async (workspace) => {
        const oid = await writeTag(workspace, request);
        await workspace.publish();
        return oid;
      }),
    createRootCommit: (path, request) =>
      within(path, undefined, async (workspace) => {
        const oid = await createRootCommit(workspace, request);
        await workspace.publish();
        return oid;
      }),
    previewFiles: (path, request, patchLimits) =>
      within(path, undefined, (workspace) => previewFiles(deps, path, workspace, request, patchLimits)),
    tryMerge,
    async tryMerges(path, onto, heads) {
      for (let from = 0; from < heads.length; from += mergedAtOnce) {
        const some = heads.slice(from, from + mergedAtOnce);
        const merged = await within(path, undefined, (workspace) => mergeEach(workspace, onto, some));
        for (const [head, trees] of merged) tryMerge.put(trees, path, { onto, head });
      }
    },
    tryCarry: (path, range, onto, signal) => within(path, signal, (workspace) => carryRange(workspace, range, onto)),
    conflicts: memoize((path, sides) => within(path, undefined, (workspace) => findConflicts(workspace, sides)), {
      maxBytes: maxConflictBytes,
      weigh: weighConflicts,
    }),
    carriedDiff: memoize(
      (path, request) => within(path, undefined, (workspace) => readInterdiff(deps, path, workspace, request)),
      {
        maxBytes: maxCarriedBytes,
        weigh: (diff) => (diff.kind === 'unrelated' ? 100 : weighPatches(diff) + 500 * diff.files.length),
      },
    ),
    pairCommits: memoize(
      (path, before, after) => within(path, undefined, (workspace) => pairCommits(workspace, before, after)),
      { maxBytes: 4 * 1024 * 1024, weigh: (pairs) => 200 + 200 * pairs.length },
    ),
  };
}
