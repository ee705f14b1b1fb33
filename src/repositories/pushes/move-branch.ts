import { personIdOf, recordCredential, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { invalid, noRef } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { evaluateRules } from '../rules/evaluate-rules.ts';
import type { RuleEvaluation } from '../rules/evaluate-rules.ts';
import { decidingRule, loadRules } from '../rules/load-rules.ts';
import { mergesRefused, sentence, unsignedRefused } from '../rules/describe-rule.ts';
import { unverifiedIn } from '../rules/verify-commits.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { AppliedPush, ServerPush } from './apply-updates.ts';
import { requireRefWrite, requireWritableRepository } from './require-ref-write.ts';
import { requireWritten } from './require-written.ts';
import type { RefUpdate } from './push-journal.ts';
import type { PushChannel } from './push-channel.ts';

type Apply = (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>;

/** A branch that the server moves for a user, to a commit whose objects exist. */
export interface BranchMove {
  /** Without `refs/heads/`. */
  branch: string;
  /** The tip that was read; zeros to create the branch. */
  oldId: string;
  newId: string;
  /**
   * The permission that applies: a push by the viewer, or a merge, which the caller checks in `authorize`. Rules about
   * commits hold for both.
   */
  right: 'push' | 'merge';
  /** Channel recorded in the journal; a merge by default. */
  via?: 'merge' | PushChannel;
  authorize?(tx: Tx, row: Repository): Promise<void>;
  /** Records the purpose of the push, in the transaction that journals it. */
  record?(tx: Tx, pushId: string): Promise<void>;
  /** Records the effects, in the transaction that settles the push: see `ServerPush`. */
  settled?(tx: Tx, pushId: string): Promise<void>;
}

/**
 * Moves a branch as a journalled push, under the repository's rules. Throws what `mayMoveRefs` and `authorize` throw,
 * `branch_protected`, `ref_locked`, and what `applyUpdates` throws.
 * @returns the id of the push, whether the branch moved (not if its tip has changed), and whether `settled` recorded
 *   the effects
 */
export async function moveBranch(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  found: Pick<Found, 'repository' | 'path'>,
  { branch, oldId, newId, right, via = 'merge', authorize, record, settled }: BranchMove,
): Promise<{ pushId: string; isMoved: boolean; isFollowed: boolean }> {
  const update: RefUpdate = { ref: `refs/heads/${branch}`, oldId, newId };
  const isNew = noRef.test(oldId);
  const [isForward, hasMerges, unverified] = await Promise.all([
    // A merge moves the branch to a commit computed on top of its tip.
    isNew || right === 'merge' || deps.git.refs.isForward(found.path, oldId, newId),
    hasMergesIn(deps, found, update),
    unverifiedIn(deps, viewer, found, update),
  ]);
  const { pushId, results, isFollowed } = await apply(found, {
    via,
    userId: personIdOf(viewer),
    credential: recordCredential(viewer),
    updates: [update],
    ...(record === undefined ? {} : { record }),
    ...(settled === undefined ? {} : { settled }),
    async authorize(tx, row) {
      if (right === 'push') await requireRefWrite(deps, tx, viewer, row);
      else await requireWritableRepository(deps, tx, row);
      const judged = right === 'push' ? await evaluateRules(deps, tx.before, viewer, row, [update]) : null;
      const reason =
        judged === null ? await refusalOfCommits(tx, row, branch) : refusalOf(judged, { isForward, hasMerges });
      if (reason !== null) throw invalid('branch_protected', sentence(reason), { field: 'branch' });
      const signed = judged?.signed[0];
      if (signed !== undefined && unverified !== null)
        throw invalid('branch_protected', sentence(signed.reason(unverified.oid, unverified.why)), { field: 'branch' });
      await authorize?.(tx, row);
    },
  });
  deps.logger.info('push.branch_changed', {
    repositoryId: found.repository.id,
    ref: update.ref,
    from: oldId,
    to: newId,
    by: viewerForLog(viewer),
  });
  requireWritten(results[0]);
  return { pushId, isMoved: results[0]?.ok === true, isFollowed };

  /** For a merge, which does not need push permission. */
  async function refusalOfCommits(tx: Tx, row: Repository, name: string): Promise<string | null> {
    const rule = await decidingRule(tx.before, row, name);
    if (rule === null) return null;
    if (rule.linear && hasMerges) return mergesRefused(rule);
    return rule.signed && unverified !== null ? unsignedRefused(rule, unverified.oid, unverified.why) : null;
  }
}

/** Whether a move adds merge commits; checked only if a rule of the repository forbids them. */
async function hasMergesIn(
  { db, git }: RepositoryDeps,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  move: { oldId: string; newId: string },
): Promise<boolean> {
  // A rule added later may still apply in the transaction, which then rejects the move as one with merges.
  const rules = await loadRules(db.read, repository.id);
  return !rules.some(({ linear }) => linear) || git.refs.hasNewMerges(path, move);
}

function refusalOf(
  { refused, onlyForward, linear }: RuleEvaluation,
  { isForward, hasMerges }: { isForward: boolean; hasMerges: boolean },
): string | null {
  const broken = [...refused, ...(isForward ? [] : onlyForward), ...(hasMerges ? linear : [])][0];
  return broken?.reason ?? null;
}
