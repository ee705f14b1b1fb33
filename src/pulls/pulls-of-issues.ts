import { In } from 'typeorm';
import type { PullDeps } from './deps.ts';
import { pullSchema } from './schema/pull-schema.ts';
import type { PullRow } from './schema/pull-schema.ts';
import { reviewRequestSchema, teamReviewRequestSchema } from './schema/attention-schema.ts';

/** A pull request with the people whose review it waits for. */
interface PullOfIssue {
  pull: PullRow;
  /** Ids of people who were asked for a review and have not answered, in the order in which they were asked. */
  requested: string[];
  /** Ids of teams, the same. */
  requestedTeams: string[];
}

/** The pull requests among issues that the caller has found already, by the id of the issue. Asks for no right. */
export async function pullsOfIssues(
  { db }: Pick<PullDeps, 'db'>,
  issueIds: readonly string[],
): Promise<Map<string, PullOfIssue>> {
  if (issueIds.length === 0) return new Map();
  const [pulls, requests, teams] = await Promise.all([
    db.read.findBy(pullSchema, { issueId: In([...issueIds]) }),
    db.read.findBy(reviewRequestSchema, { issueId: In([...issueIds]) }),
    db.read.findBy(teamReviewRequestSchema, { issueId: In([...issueIds]) }),
  ]);
  requests.sort((one, other) => one.askedAt - other.askedAt);
  teams.sort((one, other) => one.askedAt - other.askedAt);
  return new Map(
    pulls.map((pull) => [
      pull.issueId,
      {
        pull,
        requested: requests.flatMap(({ issueId, userId, answeredAt }) =>
          issueId === pull.issueId && answeredAt === null ? [userId] : [],
        ),
        requestedTeams: teams.flatMap(({ issueId, teamId, answeredAt }) =>
          issueId === pull.issueId && answeredAt === null ? [teamId] : [],
        ),
      },
    ]),
  );
}
