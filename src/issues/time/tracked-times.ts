import { personIdOf, refusalInRepository, refusalOnIssue } from '../../access/index.ts';
import type { IssueRepositoryFacts, Viewer } from '../../access/index.ts';
import { readKeysetPage, selectRows } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue, findRepositoryContext, issueInWrite } from '../find-issue.ts';
import { factsOfIssue } from '../issue-context.ts';
import type { IssueAt, RepositoryAt } from '../issue-context.ts';
import { refusalError } from '../issue-errors.ts';
import { limits } from '../limits.ts';
import { trackedTimeSchema } from '../schema/time-schema.ts';
import type { TrackedTimeRow } from '../schema/time-schema.ts';

const timeNotFound = () => notFound('time_not_found', 'There is no such time.');

/** Tracking time requires permission to triage. */
export function trackerOf(viewer: Viewer): string {
  const personId = personIdOf(viewer);
  if (personId === null) throw refusalError(viewer.kind === 'anonymous' ? 'sign_in' : 'level', 'ISSUE');
  return personId;
}

/**
 * Adds time spent on an issue by the viewer, or by another user if the viewer administers the repository. Throws
 * `invalid_time_spent`, `too_many_times`, and errors of the triage permission.
 * @param added.createdAt when it was spent; defaults to now
 */
export async function addTime(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { seconds, userId, createdAt }: { seconds: number; userId?: string | undefined; createdAt?: number | undefined },
): Promise<TrackedTimeRow> {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > limits.trackedSeconds)
    throw invalid('invalid_time_spent', 'Enter the time in seconds, up to a year.', { field: 'time' });
  const { issue } = await findIssue(deps, viewer, at);
  const own = trackerOf(viewer);
  const forOther = userId !== undefined && userId !== own;
  return deps.db.write(async (tx) => {
    const context = await issueInWrite(deps, tx, viewer, issue, 'triage');
    if (forOther && refusalInRepository(viewer, context.facts, 'manage') !== null) throw refusalError('level', 'ISSUE');
    const issueId = context.issue.id;
    if ((await tx.manager.countBy(trackedTimeSchema, { issueId })) >= limits.timesPerIssue)
      throw invalid('too_many_times', `An issue can have at most ${limits.timesPerIssue} time entries.`);
    const row = {
      issueId,
      repositoryId: context.issue.repositoryId,
      userId: userId ?? own,
      userName: null,
      origin: null,
      seconds,
      createdAt: createdAt ?? tx.now,
    };
    await tx.manager.insert(trackedTimeSchema, row);
    const [added] = await tx.manager.find(trackedTimeSchema, { where: { issueId }, order: { id: 'DESC' }, take: 1 });
    return added!;
  });
}

/**
 * Deletes the viewer's own time, or anyone's for an administrator of the repository. Throws `time_not_found`, and
 * permission errors.
 */
export async function removeTime(deps: IssueDeps, viewer: Viewer, at: IssueAt, id: number): Promise<void> {
  const { issue } = await findIssue(deps, viewer, at);
  const own = trackerOf(viewer);
  await deps.db.write(async (tx) => {
    const context = await issueInWrite(deps, tx, viewer, issue, 'triage');
    const row = await tx.manager.findOneBy(trackedTimeSchema, { id, issueId: context.issue.id });
    if (row === null) throw timeNotFound();
    if (row.userId !== own && refusalInRepository(viewer, context.facts, 'manage') !== null)
      throw refusalError('level', 'ISSUE');
    await tx.manager.delete(trackedTimeSchema, { id });
  });
}

/** Deletes all of the viewer's own time on an issue. Throws `time_not_found` if there is none. */
export async function resetTime(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const { issue } = await findIssue(deps, viewer, at);
  const userId = trackerOf(viewer);
  await deps.db.write(async (tx) => {
    const context = await issueInWrite(deps, tx, viewer, issue, 'triage');
    const { affected } = await tx.manager.delete(trackedTimeSchema, { issueId: context.issue.id, userId });
    if (affected === 0) throw timeNotFound();
  });
}

interface TimeFilter {
  /** UUID of the user who spent it. */
  userId?: string | null;
  /** Only times in this range, milliseconds since the epoch. */
  since?: number | null;
  before?: number | null;
}

/** An archive refuses every change, but what it has is shown to the same users. */
const unarchived = (facts: IssueRepositoryFacts): IssueRepositoryFacts => ({ ...facts, archived: false });

/**
 * A page of the times of an issue, of a repository, or of the viewer everywhere, oldest first. Users who may triage see
 * everyone's times, others only their own. Throws the errors of finding the issue or the repository.
 */
export async function listTimes(
  deps: IssueDeps,
  viewer: Viewer,
  where: { issue: IssueAt } | { repository: RepositoryAt } | 'own',
  { userId = null, since = null, before = null }: TimeFilter,
  paging: KeysetPaging,
): Promise<KeysetPage<TrackedTimeRow>> {
  const own = trackerOf(viewer);
  const conditions: string[] = [];
  const values: Record<string, unknown> = {};
  let seesAll = false;
  if (where === 'own') conditions.push('t.user_id = :own');
  else if ('issue' in where) {
    const { issue, facts } = await findIssue(deps, viewer, where.issue);
    seesAll = refusalOnIssue(viewer, unarchived(facts), factsOfIssue(issue), 'triage') === null;
    conditions.push('t.issue_id = :issueId');
    values['issueId'] = issue.id;
  } else {
    const { repository, facts } = await findRepositoryContext(deps, viewer, where.repository);
    seesAll = refusalInRepository(viewer, unarchived(facts), 'triage') === null;
    conditions.push('t.repository_id = :repositoryId');
    values['repositoryId'] = repository.id;
  }
  if (where === 'own' || !seesAll) {
    if (where !== 'own') conditions.push('t.user_id = :own');
    values['own'] = own;
  }
  if (userId !== null) conditions.push('t.user_id = :userId');
  if (since !== null) conditions.push('t.created_at >= :since');
  if (before !== null) conditions.push('t.created_at < :before');
  return readKeysetPage(
    paging,
    ({ id }: TrackedTimeRow) => String(id),
    ({ key, isBackwards, limit, skip }) => {
      const from = key === null ? null : /^\d{1,15}$/.test(key) ? Number(key) : null;
      if (key !== null && from === null) throw invalid('invalid_page', 'This page address is not valid.');
      const all = [...conditions, ...(from === null ? [] : [`t.id ${isBackwards ? '<' : '>'} :from`])];
      return selectRows(
        deps.db.read,
        trackedTimeSchema,
        `SELECT t.* FROM tracked_times t WHERE ${all.join(' AND ')}
         ORDER BY t.id ${isBackwards ? 'DESC' : 'ASC'} LIMIT :limit OFFSET :skip`,
        {
          ...values,
          ...(userId !== null && { userId }),
          ...(since !== null && { since }),
          ...(before !== null && { before }),
          ...(from !== null && { from }),
          limit,
          skip,
        },
      );
    },
  );
}
