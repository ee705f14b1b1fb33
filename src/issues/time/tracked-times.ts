import { personIdOf, refusalInRepository, refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
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

/** A year and a day: nobody works longer on one thing at once. */
const mostSeconds = 366 * 86_400;

const timeNotFound = () => notFound('time_not_found', 'There is no such time.');

/** Who tracks time: people who may triage. */
export function trackerOf(viewer: Viewer): string {
  const personId = personIdOf(viewer);
  if (personId === null) throw refusalError(viewer.kind === 'anonymous' ? 'sign_in' : 'level', 'ISSUE');
  return personId;
}

/**
 * Adds time that the viewer, or another person for whom an administrator of the repository says so, spent on an issue.
 * Refuses `invalid_time_spent`, `too_many_times`, and what the right to triage refuses.
 * @param added.createdAt when it was spent; now when left out
 */
export async function addTime(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { seconds, userId, createdAt }: { seconds: number; userId?: string | undefined; createdAt?: number | undefined },
): Promise<TrackedTimeRow> {
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > mostSeconds)
    throw invalid('invalid_time_spent', 'Enter the time in seconds, up to a year.', { field: 'time' });
  const { issue } = await findIssue(deps, viewer, at);
  const own = trackerOf(viewer);
  const forOther = userId !== undefined && userId !== own;
  return deps.db.write(async (tx) => {
    const context = await issueInWrite(deps, tx, viewer, issue, 'triage');
    if (forOther && refusalInRepository(viewer, context.facts, 'manage') !== null) throw refusalError('level', 'ISSUE');
    const issueId = context.issue.id;
    if ((await tx.manager.countBy(trackedTimeSchema, { issueId })) >= limits.timesPerIssue)
      throw invalid('too_many_times', `An issue has at most ${limits.timesPerIssue} tracked times.`);
    const row = {
      issueId,
      repositoryId: context.issue.repositoryId,
      userId: userId ?? own,
      seconds,
      createdAt: createdAt ?? tx.now,
    };
    await tx.manager.insert(trackedTimeSchema, row);
    const [added] = await tx.manager.find(trackedTimeSchema, { where: { issueId }, order: { id: 'DESC' }, take: 1 });
    return added!;
  });
}

/**
 * Takes one's own time away, as an administrator of the repository that of all. Refuses `time_not_found`, and what the
 * rights refuse.
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

/** Takes all of the viewer's own time on an issue away. Refuses `time_not_found` where there is none. */
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
  /** UUID of who spent it. */
  userId?: string | null;
  /** Only times of this range, milliseconds since the epoch. */
  since?: number | null;
  before?: number | null;
}

/**
 * A page of the times of an issue, of a repository, or of the viewer everywhere, the oldest first. Those who may triage
 * see the times of all, other people their own. Refuses what finding the issue or the repository refuses.
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
    seesAll = refusalOnIssue(viewer, facts, factsOfIssue(issue), 'triage') === null;
    conditions.push('t.issue_id = :issueId');
    values['issueId'] = issue.id;
  } else {
    const { repository, facts } = await findRepositoryContext(deps, viewer, where.repository);
    seesAll = refusalInRepository(viewer, facts, 'triage') === null;
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
