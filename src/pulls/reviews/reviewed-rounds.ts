import type { Database } from '../../db/index.ts';

/**
 * The last round that a person has reviewed, of open pull requests that have got another one since, by the id of the
 * issue: what links to "what changed since your review" begin at. Asks for no right.
 */
export async function reviewedRounds(
  { read }: Pick<Database, 'read'>,
  userId: string,
  issueIds: readonly string[],
): Promise<Map<string, number>> {
  if (issueIds.length === 0) return new Map();
  const rows: { issue_id: string; round: number }[] = await read.query(
    `SELECT r.issue_id AS issue_id, max(r.round) AS round FROM reviews r JOIN pulls p ON p.issue_id = r.issue_id
     WHERE r.issue_id IN (${issueIds.map(() => '?').join(', ')}) AND r.submitted_at IS NOT NULL AND r.author_id = ?
       AND p.is_open = 1
     GROUP BY r.issue_id, p.last_round HAVING max(r.round) < p.last_round`,
    [...issueIds, userId],
  );
  return new Map(rows.map((row) => [row.issue_id, Number(row.round)]));
}
