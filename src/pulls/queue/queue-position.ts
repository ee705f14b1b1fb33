import { In } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { IssueAt, RepositoryAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { queueOfBranch } from '../queue-rows.ts';
import { queueSchema } from '../schema/queue-schema.ts';
import type { QueueRow } from '../schema/queue-schema.ts';
import type { CandidatePlace } from '../candidate-tests.ts';

/** Identifies the runs of a row. */
export const placeOf = ({ repositoryId, candidateOid }: QueueRow, { number }: { number: number }): CandidatePlace => ({
  repositoryId,
  number,
  oid: candidateOid ?? '',
});

/** A pull request in a queue. */
export interface QueuePosition extends Pick<QueueRow, 'state' | 'round' | 'addedBy' | 'addedAt' | 'baseBranch'> {
  number: number;
  title: string;
  /** Position from 1. */
  place: number;
  /** Number of pull requests in the queue of the branch. */
  length: number;
  /** The merge being tested, and the start of its test. */
  candidateOid: string | null;
  testedSince: number | null;
}

const show = (row: QueueRow, rows: readonly QueueRow[], issue: { number: number; title: string }): QueuePosition => ({
  number: issue.number,
  title: issue.title,
  state: row.state,
  round: row.round,
  addedBy: row.addedBy,
  addedAt: row.addedAt,
  baseBranch: row.baseBranch,
  place: rows.findIndex(({ issueId }) => issueId === row.issueId) + 1,
  length: rows.length,
  candidateOid: row.candidateOid,
  testedSince: row.testedSince,
});

/**
 * The position of a pull request in the queue of its branch; null if it is in none. Throws the errors of `findPull`.
 */
export async function findQueuePosition(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<QueuePosition | null> {
  const { issue } = await findPull(deps, viewer, at);
  const row = await deps.db.read.findOneBy(queueSchema, { issueId: issue.id });
  return row === null ? null : show(row, await queueOfBranch(deps.db.read, row), issue);
}

/** The queues of a repository: pull requests by branch, in merge order. Throws `repository_not_found`. */
export async function listQueues(deps: PullDeps, viewer: Viewer, at: RepositoryAt): Promise<QueuePosition[]> {
  const { repository } = await deps.repositories.find(viewer, at.owner, at.name);
  const rows = await deps.db.read.find(queueSchema, {
    where: { repositoryId: repository.id },
    order: { baseBranch: 'ASC', position: 'ASC' },
    take: limits.listedQueue,
  });
  const issues = await deps.db.read.findBy(issueSchema, { id: In(rows.map(({ issueId }) => issueId)) });
  const byId = new Map(issues.filter(({ deletedAt }) => deletedAt === null).map((issue) => [issue.id, issue]));
  const tested = (row: QueueRow): number => (row.state === 'TESTING' ? 0 : 1);
  return [...Map.groupBy(rows, ({ baseBranch }) => baseBranch).values()].flatMap((own) => {
    const ordered = own.toSorted((a, b) => tested(a) - tested(b) || a.position - b.position);
    return ordered.flatMap((row) => {
      const issue = byId.get(row.issueId);
      return issue === undefined ? [] : [show(row, ordered, issue)];
    });
  });
}
