import { anonymous, personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { MergeStyle } from '../../git/index.ts';
import type { EntryLog } from '../../issues/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullInWrite } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { hasPendingHeadPush, hasPendingPush } from '../rounds/pending-push.ts';
import { roundChanged } from '../rounds/record-round.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { recordMerged } from './record-merged.ts';

/** A computed merge that will become the tip of the base branch. */
interface ComputedMerge {
  /** The tip for which it was computed, and the commit. */
  onto: string;
  oid: string;
  style: MergeStyle;
  round: number;
  /** Checks the merge with the data of the write; throws to reject it. */
  authorize(tx: Tx, now: PullContext): Promise<void>;
  /** Requirements of the rule that an administrator bypassed, known after `authorize`. */
  bypassed?(): string[];
  /** Whether the queue merges; then the log does not name a user as the one who merges now. */
  isByQueue?: boolean;
}

export interface Merged {
  /** The tip of the base branch. */
  oid: string;
  pushId: string;
}

/**
 * Moves the base branch to a computed merge as a journalled push, and records it. Null if the branch has moved since.
 * Throws `round_changed`, `base_changed`, and the errors of `moveBranch` and `authorize`.
 */
export async function landMerge(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  context: PullContext,
  { onto, oid, style, round, authorize, bypassed, isByQueue = false }: ComputedMerge,
): Promise<Merged | null> {
  const { issue, pull, repository } = context;
  const closing = await closingTargets(deps, viewer, context);
  const actor = isByQueue ? anonymous : viewer;
  const recordOn = (log: EntryLog, pushId: string) =>
    recordMerged(deps, log, viewer, repository, { issueId: issue.id, pushId, closing, bypassed: bypassed?.() ?? [] });
  const logs: EntryLog[] = [];
  const { pushId, isMoved, isFollowed } = await deps.repositories.pushes.moveBranch(viewer, found, {
    branch: pull.baseBranch,
    oldId: onto,
    newId: oid,
    right: 'merge',
    async authorize(tx) {
      const now = await pullInWrite(deps, tx, viewer, issue, 'merge');
      if (now.pull.lastRound !== round || now.pull.headOid !== pull.headOid) throw roundChanged();
      // An accepted push counts as a round, even if its listener has not written it yet.
      if (await hasPendingPush(tx.before, issue)) throw roundChanged();
      if (await hasPendingHeadPush(tx.before, now.pull)) throw roundChanged();
      if (now.pull.baseBranch !== pull.baseBranch) throw conflict('base_changed', 'The base branch has changed.');
      await authorize(tx, now);
    },
    // The push listener reads it, also after a crash.
    async record({ manager }, mergePushId) {
      const mergedBy = personIdOf(viewer);
      const merge = { mergePushId, mergedOid: oid, mergedOntoOid: onto, mergeStyle: style, mergedBy };
      await manager.update(pullSchema, { issueId: issue.id }, merge);
    },
    async settled(tx, mergePushId) {
      const log = deps.issues.pulls.logIn(tx, actor);
      await recordOn(log, mergePushId);
      logs.splice(0, logs.length, log);
    },
  });
  if (!isMoved) return null;
  // The push listener does the same after a crash; whichever comes first records it.
  if (isFollowed) for (const log of logs) deps.issues.pulls.announce(log);
  else await deps.issues.pulls.write(actor, (log) => recordOn(log, pushId));
  return { oid, pushId };
}

/** Issues that the pull request closes; only a merge into the default branch closes them. */
export async function closingTargets(
  deps: PullDeps,
  viewer: Viewer,
  { issue, pull, repository }: Pick<PullContext, 'issue' | 'pull' | 'repository'>,
) {
  if (pull.baseBranch !== repository.defaultBranch) return [];
  const text = await deps.issues.pulls.textOf(issue.id);
  return deps.issues.pulls.closingTargets(viewer, repository.id, [issue.title, text]);
}
