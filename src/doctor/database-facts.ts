import { stat } from 'node:fs/promises';
import { rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';

/** Properties of a database for its administrators. */
export interface DatabaseFacts {
  product: 'SQLite' | 'PostgreSQL';
  version: string;
  /** The URL without its password, or the file. */
  at: string;
  bytes: number;
  /** For PostgreSQL; null for a file. */
  server: PostgresState | null;
}

export interface PostgresState {
  synchronousCommit: string;
  /** Whether commits are synced to disk. */
  syncs: boolean;
  /** Number of connections of all its clients, and their limit. */
  connections: { used: number; most: number };
  /** Age of the oldest transaction in this database, in milliseconds. */
  oldestTransactionMs: number;
  /** Whether the extension pg_trgm is installed. */
  hasTrigrams: boolean;
  /** Standbys that receive commits asynchronously, if no commit waits for any. */
  laterStandbys: number;
  /** Whether the connections have the time limits that Hearth opens them with. */
  hasLimits: boolean;
}

export async function readDatabaseFacts(
  db: Pick<Database, 'dialect' | 'read' | 'shownAddress'>,
): Promise<DatabaseFacts> {
  const at = db.shownAddress;
  if (db.dialect === 'sqlite') {
    const [found] = await rows<{ version: string }>(db.read, 'SELECT sqlite_version() AS version');
    const bytes = (await stat(at).catch(() => null))?.size ?? 0;
    return { product: 'SQLite', version: found?.version ?? '', at, bytes, server: null };
  }
  const [found] = await rows<Record<string, unknown>>(
    db.read,
    `SELECT current_setting('server_version') AS version, current_setting('synchronous_commit') AS synchronous,
      current_setting('fsync') AS fsync, current_setting('max_connections') AS most,
      current_setting('synchronous_standby_names') AS names, current_setting('statement_timeout') AS "limit",
      (SELECT count(*) FROM pg_stat_activity) AS used, (SELECT count(*) FROM pg_stat_replication) AS standbys,
      (SELECT count(*) FROM pg_extension WHERE extname = 'pg_trgm') AS trigrams,
      pg_database_size(current_database()) AS bytes,
      coalesce((SELECT CAST(max(extract(epoch FROM clock_timestamp() - xact_start)) * 1000 AS BIGINT) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()), 0) AS oldest`,
  );
  const facts = found ?? {};
  return {
    product: 'PostgreSQL',
    version: String(facts['version']),
    at,
    bytes: Number(facts['bytes']),
    server: {
      synchronousCommit: String(facts['synchronous']),
      syncs: facts['fsync'] === 'on',
      connections: { used: Number(facts['used']), most: Number(facts['most']) },
      oldestTransactionMs: Number(facts['oldest']),
      hasTrigrams: Number(facts['trigrams']) > 0,
      laterStandbys: facts['names'] === '' ? Number(facts['standbys']) : 0,
      hasLimits: facts['limit'] !== '0',
    },
  };
}
