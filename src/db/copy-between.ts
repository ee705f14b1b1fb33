import { makeSqliteFile } from './database.ts';
import type { DatabaseOptions } from './database-interface.ts';
import type { CopiedTable, CopyOptions } from './postgres/copy-rows.ts';

/** Copies all rows of an SQLite file into an empty PostgreSQL database (`postgres/copy-rows.ts`, loaded on use). */
export async function copyToPostgres(options: CopyOptions): Promise<CopiedTable[]> {
  const { copyToPostgres: copy } = await import('./postgres/copy-rows.ts');
  return copy(options);
}

/** Copies all rows of a PostgreSQL database into an SQLite file that must not exist. */
export async function copyToSqlite(
  options: Omit<CopyOptions, 'baseline'> & Pick<DatabaseOptions, 'clock'>,
): Promise<CopiedTable[]> {
  const { copyToSqlite: copy } = await import('./postgres/copy-rows.ts');
  return copy(options, () => makeSqliteFile(options, options.file));
}
