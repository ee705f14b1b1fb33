import type { Migration } from '../src/db/index.ts';

/**
 * Requests for a review by a team that has a role in the repository; they end with the role, and so with the team and
 * with a transfer. `team_reviewers` has those whom an unanswered one waits for: the people of the team without the
 * author of the pull request and who submitted it.
 */
export const teamReviewRequests: Migration = {
  version: 177,
  name: 'Review requests of teams',
  statements: [
    `CREATE TABLE team_review_requests (
      issue_id TEXT NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
      team_id TEXT NOT NULL,
      repository_id TEXT NOT NULL,
      reason TEXT NOT NULL CONSTRAINT team_review_requests_reason CHECK (reason IN ('asked', 'owner')),
      asked_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      asked_at BIGINT NOT NULL,
      answered_at BIGINT,
      PRIMARY KEY (issue_id, team_id),
      FOREIGN KEY (team_id, repository_id) REFERENCES team_repositories (team_id, repository_id) ON DELETE CASCADE
    )`,
    `CREATE INDEX team_review_requests_role ON team_review_requests (team_id, repository_id)`,
    `CREATE INDEX team_review_requests_open ON team_review_requests (team_id, asked_at) WHERE answered_at IS NULL`,
    `CREATE INDEX team_review_requests_asked_by ON team_review_requests (asked_by) WHERE asked_by IS NOT NULL`,
    `CREATE VIEW team_reviewers AS
      SELECT tm.user_id AS user_id, q.issue_id AS issue_id, q.team_id AS team_id, q.asked_at AS since
      FROM team_members tm
      JOIN team_review_requests q ON q.team_id = tm.team_id AND q.answered_at IS NULL
      JOIN pulls p ON p.issue_id = q.issue_id
      JOIN issues i ON i.id = q.issue_id
      WHERE coalesce(i.author_id, '') <> tm.user_id AND coalesce(p.submitter_id, '') <> tm.user_id`,
  ],
};
