import type { Viewer } from '../../access/index.ts';
import { personIdOf, refusalOnPull, scopeAllows } from '../../access/index.ts';
import { idsIn } from '../../db/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, findPull, pullInWrite, refuse, requireOpen } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { reviewRequestSchema } from '../schema/attention-schema.ts';
import type { ReviewRequestRow } from '../schema/attention-schema.ts';
import { changeTeamRequests, isTeamName, teamsByName } from './team-requests.ts';

/** Usernames, and teams as `organisation/team`. */
interface RequestChange {
  add?: readonly string[] | undefined;
  remove?: readonly string[] | undefined;
}

/**
 * Requests reviews from users and teams, or withdraws requests; a reviewer who already answered is asked again. Changes
 * nothing if it throws `unknown_reviewer`, `reviewer_is_author`, `reviewer_may_not_read`, `unknown_team`,
 * `team_without_role`, `team_without_reviewers`, `too_many_reviewers`, `pull_closed`, or a permission error.
 * @returns the requests of users
 */
export async function changeRequests(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { add = [], remove = [] }: RequestChange,
): Promise<ReviewRequestRow[]> {
  const found = await findPull(deps, viewer, at);
  const { issue, repository } = found;
  // A requested reviewer may decline with read access alone.
  const isOwn = add.length === 0 && remove.length === 1 && isSelf(viewer, remove[0]!);
  const act = isOwn ? 'read' : 'request_review';
  if (!isOwn || personIdOf(viewer) === null || !scopeAllows(viewer, 'write'))
    refuse(refusalOnPull(viewer, found.facts, factsOfPull(issue, found.pull), 'request_review'));
  if (add.length + remove.length > 2 * limits.requests) throw tooMany();
  const added = await peopleOf(deps, add);
  const removed = (await peopleOf(deps, remove)).filter((id) => !added.includes(id));
  const addedTeams = await teamsByName(deps, viewer, add.filter(isTeamName));
  const removedTeams = await teamsByName(deps, viewer, remove.filter(isTeamName));
  const readers = await deps.issues.readersAmong({ repository, issue }, added);
  if (added.some((id) => !readers.includes(id)))
    throw invalid('reviewer_may_not_read', 'A user who cannot see this pull request cannot review it.', {
      field: 'reviewers',
    });
  return deps.issues.pulls.write(viewer, async (log) => {
    const { manager, now } = log.tx;
    const context = await pullInWrite(deps, log.tx, viewer, issue, act);
    requireOpen(context);
    const issueId = context.issue.id;
    const before = new Map((await manager.findBy(reviewRequestSchema, { issueId })).map((row) => [row.userId, row]));
    const askedBy = viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null;
    for (const userId of added) {
      if (userId === context.issue.authorId || userId === context.pull.submitterId)
        throw invalid('reviewer_is_author', 'You cannot request a review from the author.', { field: 'reviewers' });
      const row = before.get(userId);
      if (row !== undefined && row.answeredAt === null) continue;
      if (row === undefined && before.size >= limits.requests) throw tooMany();
      const asked: ReviewRequestRow = { issueId, userId, reason: 'asked', askedBy, askedAt: now, answeredAt: null };
      await manager.upsert(reviewRequestSchema, asked, ['issueId', 'userId']);
      before.set(userId, asked);
      await deps.issues.pulls.subscribeOnce(log.tx, issueId, userId, 'assigned');
      await log.append(context.issue, { kind: 'asked', details: { userId } });
    }
    for (const userId of removed) {
      if (!before.delete(userId)) continue;
      await manager.delete(reviewRequestSchema, { issueId, userId });
      await log.append(context.issue, { kind: 'asked', details: { userId, removed: true } });
    }
    await changeTeamRequests(deps, log, viewer, context, {
      add: addedTeams,
      remove: removedTeams.filter((id) => !addedTeams.includes(id)),
      tooMany,
    });
    return [...before.values()];
  });
}

const isSelf = (viewer: Viewer, username: string): boolean =>
  viewer.kind === 'person' && viewer.username !== null && viewer.username.toLowerCase() === username.toLowerCase();

const tooMany = () =>
  invalid(
    'too_many_reviewers',
    `You can request a review from at most ${limits.requests} users and ${limits.teamRequests} teams.`,
    { field: 'reviewers' },
  );

async function peopleOf({ accounts }: PullDeps, usernames: readonly string[]): Promise<string[]> {
  const ids = new Set<string>();
  for (const username of usernames) {
    if (isTeamName(username)) continue;
    const person = await accounts.personByUsername(username).catch(nullIfNotFound);
    if (person === null)
      throw invalid('unknown_reviewer', `There is no user named ${username.slice(0, 64)}.`, { field: 'reviewers' });
    ids.add(person.id);
  }
  return [...ids];
}

/** Review requests of users, oldest first. Throws the errors of `findPull`. */
export async function listRequests(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<ReviewRequestRow[]> {
  const { issue } = await findPull(deps, viewer, at);
  const rows = await deps.db.read.findBy(reviewRequestSchema, { issueId: issue.id });
  return rows.sort((one, other) => one.askedAt - other.askedAt || (one.userId < other.userId ? -1 : 1));
}

/** Unanswered review requests for rows of lists, by the id of the issue. Does not check access. */
export async function unansweredRequests(
  { db }: Pick<PullDeps, 'db'>,
  issueIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (issueIds.length === 0) return new Map();
  const rows = await db.read
    .createQueryBuilder(reviewRequestSchema, 'r')
    .where(...idsIn('r.issue_id', issueIds))
    .andWhere('r.answered_at IS NULL')
    .getMany();
  const byIssue = Map.groupBy(rows, ({ issueId }) => issueId);
  return new Map([...byIssue].map(([issueId, asked]) => [issueId, asked.map(({ userId }) => userId)]));
}
