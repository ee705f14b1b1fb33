import type { Viewer } from '../../access/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { EntryLog, Issues } from '../../issues/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { queueSchema } from '../schema/queue-schema.ts';
import { attentionSchema } from '../schema/attention-schema.ts';

type Targets = Awaited<ReturnType<Issues['pulls']['closingTargets']>>;

export interface RecordedMerge {
  issueId: string;
  pushId: string;
  /** Issues that it closes. */
  closing: Targets;
  /** Requirements of the rule that an administrator bypassed. */
  bypassed?: readonly string[];
  /** For a merge by hand: the tip after the push and before it. */
  byHand?: { oid: string; onto: string; mergedBy: string | null } | undefined;
}

/**
 * Records once that a push has merged a pull request: its state, the entry, the issues that it closes. Uses the record
 * that the merge wrote before its push, or the data of a push by hand.
 */
export async function recordMerged(
  deps: Pick<PullDeps, 'issues'>,
  log: EntryLog,
  viewer: Viewer,
  repository: Repository,
  { issueId, pushId, closing, bypassed = [], byHand }: RecordedMerge,
): Promise<void> {
  const { manager, now } = log.tx;
  const issue = await manager.findOneBy(issueSchema, { id: issueId });
  const pull = await manager.findOneBy(pullSchema, { issueId });
  if (issue === null || pull === null || issue.state === 'MERGED') return;
  if (byHand === undefined && pull.mergePushId !== pushId) return;
  // A user may have closed it since the push; its commits are merged all the same.
  const state = { state: 'MERGED', closeReason: null, closedAt: now } as const;
  await manager.update(issueSchema, { id: issueId }, state);
  Object.assign(issue, state);
  const change = {
    mergedAt: now,
    mergeWhenReadyBy: null,
    mergeWhenReadyRound: null,
    mergeWhenReady: null,
    ...(byHand === undefined
      ? {}
      : { mergePushId: pushId, mergedOid: byHand.oid, mergedOntoOid: byHand.onto, mergedBy: byHand.mergedBy }),
  };
  await manager.update(pullSchema, { issueId }, change);
  Object.assign(pull, change);
  await manager.delete(attentionSchema, { issueId });
  const queued = await manager.findOneBy(queueSchema, { issueId });
  await manager.delete(queueSchema, { issueId });
  const isByQueue = queued !== null && byHand === undefined && queued.candidateOid === pull.mergedOid;
  await log.append(issue, {
    kind: 'merged',
    details: {
      oid: pull.mergedOid,
      onto: pull.mergedOntoOid,
      style: pull.mergeStyle,
      base: pull.baseBranch,
      round: pull.lastRound,
      ...(bypassed.length === 0 ? {} : { bypassed }),
      ...(isByQueue ? { queue: true } : {}),
    },
    origin: `merged:${pushId}`,
    ...(byHand === undefined ? {} : { via: 'git' as const }),
    // The user who queued it is also notified, because the server merges it later.
    ...(isByQueue
      ? { author: { authorId: null, remoteAuthorId: null, authorName: null }, via: 'server' as const }
      : {}),
  });
  if (closing.length > 0)
    await deps.issues.pulls.closeNamed(log, viewer, repository, closing, {
      cause: { issueId, number: issue.number, repositoryId: repository.id },
      origin: `closes:${issueId}`,
    });
}
