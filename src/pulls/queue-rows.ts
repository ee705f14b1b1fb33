import type { EntityManager } from 'typeorm';
import type { EntryLog, Issue } from '../issues/index.ts';
import { queueSchema } from './schema/queue-schema.ts';
import type { QueueRow } from './schema/queue-schema.ts';

/** The rows of a branch in the order in which they are merged: the one that is tested first. */
export async function queueOfBranch(
  source: EntityManager,
  { repositoryId, baseBranch }: Pick<QueueRow, 'repositoryId' | 'baseBranch'>,
): Promise<QueueRow[]> {
  const rows = await source.find(queueSchema, { where: { repositoryId, baseBranch }, order: { position: 'ASC' } });
  return [...rows.filter(({ state }) => state === 'TESTING'), ...rows.filter(({ state }) => state !== 'TESTING')];
}

/** Why a pull request leaves the queue without being merged. */
export interface LeaveDetails {
  /** Left out for a person who takes it out. */
  reason?: string;
  /** Whether it is told to those who take part. */
  failed?: boolean;
  /** Number of the run that failed. */
  run?: number;
}

/** Takes a pull request out of the queue with an entry of its log; nothing where it is not in it. */
export async function removeFromQueue(log: EntryLog, issue: Issue, details: LeaveDetails): Promise<QueueRow | null> {
  const { manager } = log.tx;
  const row = await manager.findOneBy(queueSchema, { issueId: issue.id });
  if (row === null) return null;
  await manager.delete(queueSchema, { issueId: issue.id });
  await log.append(issue, {
    kind: 'unqueued',
    details: {
      ...details,
      round: row.round,
      branch: row.baseBranch,
      ...(row.candidateOid === null ? {} : { candidate: row.candidateOid }),
    },
  });
  return row;
}
