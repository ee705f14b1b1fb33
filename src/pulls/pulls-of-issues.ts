import { In } from 'typeorm';
import type { PullDeps } from './deps.ts';
import { pullSchema } from './schema/pull-schema.ts';
import type { PullRow } from './schema/pull-schema.ts';
import { reviewRequestSchema, teamReviewRequestSchema } from './schema/attention-schema.ts';

/** A pull request with the reviewers that it waits for. */
interface PullOfIssue {
  pull: PullRow;
  /** Ids of users with unanswered review requests, oldest request first. */
  requested: string[];
  /** Ids of teams with unanswered review requests, oldest request first. */
  requestedTeams: string[];
}

/** The pull requests among issues that the caller has already found, by the id of the issue. Does not check access. */
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
