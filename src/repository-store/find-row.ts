import { conflict } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';
import { storedRepositorySchema } from './schema.ts';
import type { StoredRepository } from './schema.ts';

/** Refuses `repository_moves`. */
export async function rowOf({ db }: Pick<StoreDeps, 'db'>, id: string): Promise<StoredRepository> {
  const [row] = await db.lookup(storedRepositorySchema, { id });
  if (row === undefined) throw repositoryMoves();
  return row;
}

/** Of a repository whose row went while it was used: removed, or kept as a folder from now on. */
export const repositoryMoves = () =>
  conflict('repository_moves', 'This repository is being moved or deleted. Try again in a moment.');
