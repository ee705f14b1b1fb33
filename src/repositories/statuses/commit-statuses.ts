import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { idsIn, selectRows } from '../../db/index.ts';
import type { Database, Tx } from '../../db/index.ts';
import { commitStatusSchema } from '../schema/commit-status-schema.ts';
import type { CommitState, CommitStatus } from '../schema/commit-status-schema.ts';

/** A check's report before its time is set. */
export type StatusReport = Omit<CommitStatus, 'createdAt' | 'updatedAt'>;

/** The combined status of one commit. */
export interface CombinedStatus {
  state: CommitState;
  /** Sorted by context. */
  statuses: CommitStatus[];
}

/** Records the status of a check for a commit, replacing the previous one. Runs inside the caller's transaction. */
export async function setCommitStatus({ manager, now }: Tx, report: StatusReport): Promise<void> {
  const { repositoryId, sha, context, ...fields } = report;
  const { affected } = await manager.update(
    commitStatusSchema,
    { repositoryId, sha, context },
    { isWarning: false, ...fields, updatedAt: now },
  );
  if (affected === 0)
    await manager.insert(commitStatusSchema, { isWarning: false, ...report, createdAt: now, updatedAt: now });
}

/** Deletes the status of a check for a commit. */
export async function removeCommitStatus(
  { manager }: Tx,
  repositoryId: string,
  sha: string,
  context: string,
): Promise<void> {
  await manager.delete(commitStatusSchema, { repositoryId, sha, context });
}

/** Deletes statuses with one of these target URLs. */
export async function removeStatusesTo(
  { manager }: Tx,
  repositoryId: string,
  sha: string,
  targetUrls: readonly string[],
): Promise<void> {
  for (let start = 0; start < targetUrls.length; start += 500) {
    await manager.delete(commitStatusSchema, {
      repositoryId,
      sha,
      targetUrl: In(targetUrls.slice(start, start + 500)),
    });
  }
}

/**
 * The statuses of one commit, sorted by context. @param source may also be a transaction's. The caller checks access.
 */
export function statusesOf(source: EntityManager, repositoryId: string, sha: string): Promise<CommitStatus[]> {
  return source.find(commitStatusSchema, { where: { repositoryId, sha }, order: { context: 'ASC' } });
}

/** Statuses of several commits of a repository; omits commits without any. The caller checks access. */
export async function commitStatuses(
  { read }: Database,
  repositoryId: string,
  shas: readonly string[],
): Promise<Map<string, CombinedStatus>> {
  if (shas.length === 0) return new Map();
  const [among, parameters] = idsIn('s.sha', new Set(shas));
  const rows = await selectRows(
    read,
    commitStatusSchema,
    `SELECT s.* FROM commit_statuses s WHERE s.repository_id = :repositoryId AND ${among} ORDER BY s.context`,
    { repositoryId, ...parameters },
  );
  const bySha = Map.groupBy(rows, (row) => row.sha);
  return new Map([...bySha].map(([sha, statuses]) => [sha, { state: combine(statuses), statuses }]));
}

/** A commit of a repository, for pages that show commits of several. */
export interface RepositoryCommit {
  repositoryId: string;
  sha: string;
}

export const commitKey = ({ repositoryId, sha }: RepositoryCommit): string => `${repositoryId} ${sha}`;

/** The same for commits of several repositories, keyed by `commitKey`, in one query. */
export async function commitStatusesOf(
  { read }: Database,
  commits: readonly RepositoryCommit[],
): Promise<Map<string, CombinedStatus>> {
  if (commits.length === 0) return new Map();
  const wanted = new Set(commits.map(commitKey));
  const [inRepositories, repositoryIds] = idsIn(
    's.repository_id',
    new Set(commits.map(({ repositoryId }) => repositoryId)),
    'repositoryIds',
  );
  const [ofCommits, shas] = idsIn('s.sha', new Set(commits.map(({ sha }) => sha)), 'shas');
  const found = await selectRows(
    read,
    commitStatusSchema,
    `SELECT s.* FROM commit_statuses s WHERE ${inRepositories} AND ${ofCommits} ORDER BY s.context`,
    { ...repositoryIds, ...shas },
  );
  const rows = found.filter((row) => wanted.has(commitKey(row)));
  return new Map(
    [...Map.groupBy(rows, commitKey)].map(([commit, statuses]) => [commit, { state: combine(statuses), statuses }]),
  );
}

/** A failed status takes precedence, then a pending one. */
function combine(statuses: readonly Pick<CommitStatus, 'state'>[]): CommitState {
  for (const state of ['failure', 'error', 'pending'] as const) {
    if (statuses.some((status) => status.state === state)) return state;
  }
  return 'success';
}
