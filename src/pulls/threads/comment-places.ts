import type { PullDeps } from '../deps.ts';

/** A submitted comment on code, by its thread and its position there. */
interface PlacedComment {
  threadId: string;
  position: number;
  /** Number of the pull request. */
  number: number;
}

/** Older comments cannot be found by an id that is derived from their position. */
const mostRead = 20_000;

/** The latest comments on code in a repository, to resolve such ids. The caller checks access. */
export function commentPlaces({ db }: PullDeps, repositoryId: string): Promise<PlacedComment[]> {
  return db.read.query(
    `SELECT c.thread_id AS "threadId", c.position AS "position", i.number AS "number"
     FROM issues i
     JOIN review_threads t ON t.issue_id = i.id
     JOIN review_comments c ON c.thread_id = t.id
     JOIN reviews r ON r.id = c.review_id
     WHERE i.repository_id = ? AND i.kind = 'PULL' AND r.submitted_at IS NOT NULL
     ORDER BY i.number DESC LIMIT ${mostRead}`,
    [repositoryId],
  );
}
