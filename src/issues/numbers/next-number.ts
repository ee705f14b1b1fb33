import type { Tx } from '../../db/index.ts';

/**
 * Allocates the next number of a repository, for an issue or a pull request. Runs in the transaction that uses it: a
 * failed one releases the number, so there are no gaps, and numbers are unique.
 */
export async function nextNumber({ manager }: Tx, repositoryId: string): Promise<number> {
  const [row]: { last: number }[] = await manager.query(
    `INSERT INTO issue_numbers (repository_id, last) VALUES (?, 1)
     ON CONFLICT (repository_id) DO UPDATE SET last = issue_numbers.last + 1 RETURNING last`,
    [repositoryId],
  );
  return Number(row!.last);
}

/** After inserting rows with their own numbers, as an import does: later numbers continue after the highest. */
export async function raiseNumber({ manager }: Tx, repositoryId: string, number: number): Promise<void> {
  await manager.query(
    `INSERT INTO issue_numbers (repository_id, last) VALUES (?, ?)
     ON CONFLICT (repository_id) DO UPDATE SET last = excluded.last WHERE issue_numbers.last < excluded.last`,
    [repositoryId, number],
  );
}
