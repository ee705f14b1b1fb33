import type { Tx } from '../../db/index.ts';

/**
 * Gives out the next number of a repository, for an issue or a pull request. It is part of the write that uses it: a
 * write that fails gives the number back, so there is no gap, and two writes never get the same.
 */
export async function nextNumber({ manager }: Tx, repositoryId: string): Promise<number> {
  const [row]: { last: number }[] = await manager.query(
    `INSERT INTO issue_numbers (repository_id, last) VALUES (?, 1)
     ON CONFLICT (repository_id) DO UPDATE SET last = issue_numbers.last + 1 RETURNING last`,
    [repositoryId],
  );
  return Number(row!.last);
}

/** After rows with numbers of their own, as an import brings them: later ones count on behind the highest. */
export async function raiseNumber({ manager }: Tx, repositoryId: string, number: number): Promise<void> {
  await manager.query(
    `INSERT INTO issue_numbers (repository_id, last) VALUES (?, ?)
     ON CONFLICT (repository_id) DO UPDATE SET last = excluded.last WHERE issue_numbers.last < excluded.last`,
    [repositoryId, number],
  );
}
