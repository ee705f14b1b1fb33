import type { Config } from '../config/index.ts';
import { invalid } from '../kernel/index.ts';

/**
 * For commands about the SQLite file. Throws `sqlite_only` if the instance uses PostgreSQL.
 * @param instead a sentence that names the PostgreSQL equivalent
 */
export function refusePostgres(config: Config, instead: string): void {
  if (config.database.url !== null)
    throw invalid('sqlite_only', `This instance uses PostgreSQL, so it has no database file. ${instead}`);
}
