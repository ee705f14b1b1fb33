import type { Tx } from '../db/index.ts';

const actual = {
  published: '(SELECT count(*) FROM releases r WHERE r.repository_id = c.repository_id AND r.is_draft = 0)',
  drafts: '(SELECT count(*) FROM releases r WHERE r.repository_id = c.repository_id AND r.is_draft = 1)',
  bytes: '(SELECT coalesce(sum(f.bytes), 0) FROM release_files f WHERE f.repository_id = c.repository_id)',
};

/** Repositories whose stored counts differ from a recount, in one statement, so at one moment; for `hearth doctor`. */
export const compareReleaseCounts = `SELECT c.repository_id AS id FROM release_counts c WHERE ${Object.entries(actual)
  .map(([column, count]) => `c.${column} <> ${count}`)
  .join(' OR ')}`;

/** Recomputes the counts of one repository, inside a write. */
export async function recountReleases({ manager }: Tx, repositoryId: string): Promise<void> {
  const set = Object.entries(actual).map(([column, count]) => `${column} = ${count}`);
  await manager.query(`UPDATE release_counts AS c SET ${set.join(', ')} WHERE c.repository_id = ?`, [repositoryId]);
}
