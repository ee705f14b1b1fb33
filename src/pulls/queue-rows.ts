import type { EntityManager } from 'typeorm';
import type { EntryLog, Issue } from '../issues/index.ts';
import { queueSchema } from './schema/queue-schema.ts';
import type { QueueRow } from './schema/queue-schema.ts';

/** The rows of a branch in merge order, starting with the one being tested. */
export async function queueOfBranch(
  source: EntityManager,
  { repositoryId, baseBranch }: Pick<QueueRow, 'repositoryId' | 'baseBranch'>,
): Promise<QueueRow[]> {
  const rows = await source.find(queueSchema, { where: { repositoryId, baseBranch }, order: { position: 'ASC' } });
  return [...rows.filter(({ state }) => state === 'TESTING'), ...rows.filter(({ state }) => state !== 'TESTING')];
}

/** Why a pull request leaves the queue without being merged. */
export interface LeaveDetails {
  /** Omitted if a user takes it out. */
  reason?: string;
  /** Whether to notify participants. */
  failed?: boolean;
  /** Number of the failed run. */
  run?: number;
}

/** Removes a pull request from the queue and adds an entry to its log; does nothing if it is not queued. */
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
