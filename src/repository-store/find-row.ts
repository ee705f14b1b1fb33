import { conflict } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';
import { storedRepositorySchema } from './schema.ts';
import type { StoredRepository } from './schema.ts';

/** Throws `repository_moves`. */
export async function rowOf({ db }: Pick<StoreDeps, 'db'>, id: string): Promise<StoredRepository> {
  const [row] = await db.lookup(storedRepositorySchema, { id });
  if (row === undefined) throw repositoryMoves();
  return row;
}

/** For a repository whose row disappeared during use: removed, or now stored as a folder. */
export const repositoryMoves = () =>
  conflict('repository_moves', 'This repository is being moved or deleted. Try again in a moment.');
