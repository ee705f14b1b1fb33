import type { Pool } from 'pg';
import { unavailable } from '../../kernel/index.ts';

/** 14.0 as PostgreSQL writes it. */
const oldestVersion = 140_000;

/** Milliseconds; a busy server may need seconds. */
const answerMs = 15_000;

const unfit = (sentence: string) => unavailable('database_unfit', sentence);

/**
 * Requirements of the server. Throws `database_unfit` with the remedy; does not translate connection errors.
 * @returns hasLimits: whether the connection has the time limits that it was opened with
 */
export async function checkServer(pool: Pool): Promise<{ hasLimits: boolean }> {
  const { rows } = await ask(
    pool,
    `SELECT current_setting('server_version_num')::int AS version,
    current_setting('server_version') AS shown, pg_is_in_recovery()::int AS standby,
    current_setting('server_encoding') AS encoding, current_setting('default_transaction_read_only') AS "readOnly",
    EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')::int AS trigrams,
    EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm')::int AS available,
    current_setting('idle_in_transaction_session_timeout') AS "idleLimit",
    has_database_privilege(current_database(), 'CREATE')::int AS "mayCreate", current_database() AS name`,
  );
  const [facts] = rows as {
    version: number;
    shown: string;
    standby: number;
    encoding: string;
    readOnly: string;
    trigrams: number;
    idleLimit: string;
    available: number;
    mayCreate: number;
    name: string;
  }[];
  if (facts === undefined) throw unfit('The database answers nothing.');
  if (facts.version < oldestVersion)
    throw unfit(`PostgreSQL ${facts.shown} is too old: Hearth needs 14 or newer. Upgrade the server.`);
  if (facts.standby === 1)
    throw unfit('This PostgreSQL is a standby, which takes no writes. Give the address of the primary server.');
  if (facts.readOnly === 'on')
    throw unfit('This database is set to read-only. Reset default_transaction_read_only of the database or its role.');
  if (facts.encoding !== 'UTF8')
    throw unfit(
      `The database has the encoding ${facts.encoding}. Make one with UTF-8: createdb -E UTF8 -T template0 ${facts.name}`,
    );
  const hasLimits = facts.idleLimit !== '0';
  if (facts.trigrams === 1) return { hasLimits };
  if (facts.available === 0)
    throw unfit('The extension pg_trgm is not installed. On Debian: apt-get install postgresql-contrib');
  if (facts.mayCreate === 0)
    throw unfit('The extension pg_trgm is missing. As an administrator of the database: CREATE EXTENSION pg_trgm;');
  return { hasLimits };
}

/** Otherwise the client would wait forever for an unresponsive server, or another program at its port. */
async function ask(pool: Pool, sql: string): Promise<{ rows: unknown[] }> {
  const client = await pool.connect();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client.release(new Error('timeout'));
  }, answerMs);
  try {
    const result = await client.query(sql);
    if (!isLate) client.release();
    return result;
  } catch (error) {
    if (isLate) throw new Error('timeout', { cause: error });
    client.release(error as Error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Finds text columns that are not compared byte for byte. Throws `database_unfit`. */
export async function checkCollation(pool: Pool): Promise<void> {
  const { rows } = await pool.query(`SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation o ON o.oid = a.attcollation
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
      AND o.collname <> 'C' ORDER BY 1 LIMIT 3`);
  const names = (rows as { name: string }[]).map(({ name }) => name);
  if (names.length > 0)
    throw unfit(
      `Columns have another collation than "C" (${names.join(', ')}), so lists would be in another order. Restore the schema that Hearth made, for example with: hearth db copy`,
    );
}
