import type { EntityManager } from 'typeorm';
import { personIdOf, refusalOnTeamReview } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { EntryLog, Issue, IssueAt } from '../../issues/index.ts';
import { invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { limits } from '../limits.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { teamReviewRequestSchema } from '../schema/attention-schema.ts';
import type { TeamReviewRequestRow } from '../schema/attention-schema.ts';

/** A review request of a team that the viewer may know. */
interface TeamRequest extends TeamReviewRequestRow {
  organisation: string;
  team: string;
}

/** Whether a name means a team: `organisation/team`. */
export const isTeamName = (name: string): boolean => name.includes('/');

const unknownTeam = () => invalid('unknown_team', 'This team does not exist.', { field: 'reviewers' });

const refusals = {
  no_role: () =>
    invalid('team_without_role', 'You cannot request a review from a team without a role in this repository.', {
      field: 'reviewers',
    }),
  no_reviewers: () =>
    invalid('team_without_reviewers', 'No member of this team can review this pull request.', { field: 'reviewers' }),
};

/**
 * Resolves names of the form `organisation/team` to ids of teams that the viewer may know. Throws `unknown_team`, also
 * for hidden teams.
 */
export async function teamsByName(
  { organisations }: PullDeps,
  viewer: Viewer,
  names: readonly string[],
): Promise<string[]> {
  const ids = new Set<string>();
  for (const name of names) {
    const [organisation = '', team = '', ...more] = name.split('/');
    const found =
      more.length > 0
        ? null
        : await organisations.teams.find(viewer, { organisation, name: team }).catch(nullIfNotFound);
    if (found === null) throw unknownTeam();
    ids.add(found.team.id);
  }
  return [...ids];
}

/** A pull request within a write. */
interface AskedPull {
  issue: Issue;
  pull: PullRow;
}

/** Number of team members who could review: all except the author and the submitter. */
async function reviewersOf(
  { organisations }: PullDeps,
  manager: EntityManager,
  { issue, pull }: AskedPull,
  teamId: string,
): Promise<number> {
  const people = (await organisations.teams.peopleOf([teamId], manager)).get(teamId) ?? [];
  return people.filter((id) => id !== issue.authorId && id !== pull.submitterId).length;
}

async function refusalIn(deps: PullDeps, manager: EntityManager, asked: AskedPull, teamId: string) {
  const roles = await deps.repositories.teams.withRole(asked.issue.repositoryId, [teamId], manager);
  return refusalOnTeamReview({
    hasRole: roles.has(teamId),
    reviewers: await reviewersOf(deps, manager, asked, teamId),
  });
}

/**
 * Requests reviews from teams within a write, or withdraws requests; a team that already answered is asked again.
 * Throws `team_without_role`, `team_without_reviewers`, and the error `tooMany`.
 */
export async function changeTeamRequests(
  deps: PullDeps,
  log: EntryLog,
  viewer: Viewer,
  asked: AskedPull,
  { add, remove, tooMany }: { add: readonly string[]; remove: readonly string[]; tooMany: () => Error },
): Promise<void> {
  const { manager, now } = log.tx;
  const { issue } = asked;
  const issueId = issue.id;
  const rows = await manager.findBy(teamReviewRequestSchema, { issueId });
  const before = new Map(rows.map((row) => [row.teamId, row]));
  const askedBy = viewer.kind === 'person' && viewer.via !== 'local' ? personIdOf(viewer) : null;
  for (const teamId of add) {
    const row = before.get(teamId);
    if (row !== undefined && row.answeredAt === null) continue;
    if (row === undefined && before.size >= limits.teamRequests) throw tooMany();
    const refusal = await refusalIn(deps, manager, asked, teamId);
    if (refusal !== null) throw refusals[refusal]();
    const { repositoryId } = issue;
    const made = { issueId, teamId, repositoryId, reason: 'asked', askedBy, askedAt: now, answeredAt: null } as const;
    await manager.upsert(teamReviewRequestSchema, made, ['issueId', 'teamId']);
    before.set(teamId, made);
    await log.append(issue, { kind: 'asked', details: { teamId } });
  }
  for (const teamId of remove) {
    if (!before.delete(teamId)) continue;
    await manager.delete(teamReviewRequestSchema, { issueId, teamId });
    await log.append(issue, { kind: 'asked', details: { teamId, removed: true } });
  }
}

/**
 * Asks each team that owns changed files once, if it may be asked.
 * @param log log of the write, in the name of the server
 */
export async function askOwnerTeams(
  deps: PullDeps,
  log: EntryLog,
  asked: AskedPull,
  teamIds: readonly string[],
): Promise<void> {
  const { manager, now } = log.tx;
  const { id: issueId, repositoryId } = asked.issue;
  const known = new Set((await manager.findBy(teamReviewRequestSchema, { issueId })).map(({ teamId }) => teamId));
  for (const teamId of teamIds) {
    if (known.size >= limits.teamRequests) break;
    if (known.has(teamId) || (await refusalIn(deps, manager, asked, teamId)) !== null) continue;
    known.add(teamId);
    const row = { issueId, teamId, repositoryId, reason: 'owner', askedBy: null, askedAt: now } as const;
    await manager.insert(teamReviewRequestSchema, { ...row, answeredAt: null });
    await log.append(asked.issue, { kind: 'asked', details: { teamId, reason: 'owner' } });
  }
}

/** Marks requests of the author's teams as answered when a review is submitted. */
export async function answerTeamRequests({ manager, now }: Tx, issueId: string, userId: string): Promise<void> {
  await manager
    .createQueryBuilder()
    .update(teamReviewRequestSchema)
    .set({ answeredAt: now })
    .where('issue_id = :issueId AND answered_at IS NULL', { issueId })
    .andWhere(
      'team_id IN (SELECT x.team_id FROM team_reviewers x WHERE x.issue_id = :issueId AND x.user_id = :userId)',
      {
        issueId,
        userId,
      },
    )
    .execute();
}

/** Review requests of teams that the viewer may know, oldest first. Throws the errors of `findPull`. */
export async function listTeamRequests(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<TeamRequest[]> {
  const { issue } = await findPull(deps, viewer, at);
  if (viewer.kind !== 'person') return [];
  const rows = await deps.db.read.findBy(teamReviewRequestSchema, { issueId: issue.id });
  const known = await deps.organisations.teams.knownAmong(
    viewer,
    rows.map(({ teamId }) => teamId),
  );
  return rows
    .sort((one, other) => one.askedAt - other.askedAt || (one.teamId < other.teamId ? -1 : 1))
    .flatMap((row) => {
      const found = known.get(row.teamId);
      return found === undefined ? [] : [{ ...row, organisation: found.organisation.name, team: found.team.name }];
    });
}
