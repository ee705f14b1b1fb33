import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { mergeBaseOf } from '../stacks/stacked-pulls.ts';
import { pullById } from '../find-pull.ts';
import { findShownPull } from '../rounds/current-head.ts';
import { limits } from '../limits.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { MergeState, PullRow } from '../schema/pull-schema.ts';

/** Whether the head of a pull request merges cleanly, and its conflicts. */
export interface ComputedMergeState {
  mergeState: MergeState;
  /** The tip of the base branch; null if the branch was deleted. */
  mergeStateOnto: string | null;
  mergeStateReason: string | null;
  /** Paths in the order of git, at most `limits.conflicts`. */
  conflicts: string[];
}

/** The tip of the base branch of a pull request; null if the branch was deleted. */
async function baseTipOf(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  { baseBranch }: Pick<PullRow, 'baseBranch'>,
): Promise<string | null> {
  return (await git.queries.cachedRefs(path)).get(`refs/heads/${baseBranch}`) ?? null;
}

/**
 * The merge state of an open pull request for the current tip of its base branch; computed and stored unless it is
 * known. A trial merge leaves no objects behind. If git exceeds its limits, the state is `UNKNOWN` with the reason.
 */
export async function mergeStateOf(
  deps: Pick<PullDeps, 'db' | 'git' | 'logger'>,
  path: string,
  pull: PullRow,
): Promise<ComputedMergeState> {
  const tip = await baseTipOf(deps, path, pull);
  const recorded = { ...pick(pull), conflicts: JSON.parse(pull.conflicts) as string[] };
  if (!pull.isOpen) return recorded;
  if (tip === null) return { mergeState: 'UNKNOWN', mergeStateOnto: null, mergeStateReason: 'no_base', conflicts: [] };
  if (pull.mergeStateOnto === tip && pull.mergeState !== 'UNKNOWN') return recorded;
  const computed = await compute(deps, path, pull, tip);
  await deps.db.write(
    async ({ manager }) => {
      const { conflicts, ...state } = computed;
      await manager.update(
        pullSchema,
        { issueId: pull.issueId, headOid: pull.headOid },
        { ...state, conflicts: JSON.stringify(conflicts) },
      );
    },
    // Derived data: if a power failure loses it, it is computed again.
    { durable: 'with-the-next' },
  );
  return computed;
}

const pick = ({ mergeState, mergeStateOnto, mergeStateReason }: PullRow) => ({
  mergeState,
  mergeStateOnto,
  mergeStateReason,
});

async function compute(
  deps: Pick<PullDeps, 'db' | 'git' | 'logger'>,
  path: string,
  pull: PullRow,
  tip: string,
): Promise<ComputedMergeState> {
  const { git, logger } = deps;
  const { headOid } = pull;
  const is = (mergeState: MergeState, reason: string | null = null, conflicts: string[] = []) => ({
    mergeState,
    mergeStateOnto: tip,
    mergeStateReason: reason,
    conflicts,
  });
  try {
    const merged = await git.merges.tryMerge(path, {
      onto: tip,
      head: headOid,
      base: await mergeBaseOf(deps, path, pull, tip),
    });
    if (merged.kind === 'clean') {
      // If nothing would change, counts the commits: there may be none, or only empty ones.
      const isSame = (await git.objects.commit(path, tip)).tree === merged.tree;
      return is(isSame && (await git.queries.distance(path, tip, headOid)).ahead === 0 ? 'EMPTY' : 'CLEAN');
    }
    if (merged.kind === 'unrelated') return is('UNRELATED');
    return is(
      'CONFLICT',
      null,
      merged.files.slice(0, limits.conflicts).map((file) => file.path),
    );
  } catch (error) {
    // Without a free slot the state is computed later; a merge beyond the limits stays unknown.
    if (isDomainError(error) && error.code === 'unavailable') throw error;
    logger.warn('pull.merge_state_unknown', { headOid, tip, error });
    return is('UNKNOWN', 'too_large');
  }
}

/** The merge state of a pull request, computed unless it is known. Throws the errors of `findPull` and `git_busy`. */
export async function findMergeState(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<ComputedMergeState> {
  const { path } = await deps.repositories.find(viewer, at.owner, at.name);
  return mergeStateOf(deps, path, (await findShownPull(deps, viewer, at)).pull);
}

/** Computes the merge state of one pull request in the background, if it is still open. */
export async function updateMergeState(deps: PullDeps, issueId: string): Promise<void> {
  const found = await pullById(deps, issueId);
  if (found === null || !found.pull.isOpen) return;
  const located = (await deps.repositories.locate([found.pull.repositoryId])).get(found.pull.repositoryId);
  if (located !== undefined) await mergeStateOf(deps, located.path, found.pull);
}
