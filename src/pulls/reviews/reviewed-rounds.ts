import type { Database } from '../../db/index.ts';

/**
 * The last round that a user has reviewed, for open pull requests with a newer one, by the id of the issue: links to
 * "what changed since your review" start there. Does not check access.
 */
export async function reviewedRounds(
  { read }: Pick<Database, 'read'>,
  userId: string,
  issueIds: readonly string[],
): Promise<Map<string, number>> {
  if (issueIds.length === 0) return new Map();
  const rows: { issue_id: string; last: number; round: number | null }[] = await read.query(
    `SELECT p.issue_id AS issue_id, p.last_round AS last, (SELECT max(r.round) FROM reviews r
       WHERE r.issue_id = p.issue_id AND r.author_id = ? AND r.submitted_at IS NOT NULL) AS round
     FROM pulls p WHERE p.issue_id IN (${issueIds.map(() => '?').join(', ')}) AND p.is_open = 1`,
    [userId, ...issueIds],
  );
  return new Map(
    rows.flatMap(({ issue_id, last, round }) =>
      round === null || Number(round) >= Number(last) ? [] : [[issue_id, Number(round)] as const],
    ),
  );
}
