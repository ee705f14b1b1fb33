import { stat } from 'node:fs/promises';
import path from 'node:path';
import { compareCounts, recount } from '../../db/index.ts';
import type { PoolerMode } from '../../db/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, rowsOf } from '../deps.ts';
import type { CheckGroup } from '../deps.ts';
import { readDatabaseFacts } from '../database-facts.ts';
import type { PostgresState } from '../database-facts.ts';
import { compareUsage, recountUsage } from '../storage-usage.ts';

const maxWalBytes = 128 * 1024 * 1024;

/** The database file, and invariants between its rows. */
export const checkDatabase: CheckGroup = async (deps) => {
  if (deps.db.dialect === 'postgres') return checkPostgres(deps);
  const findings: CheckResult[] = [];
  const file = path.join(deps.config.dataDir, 'hearth.db');
  const damage = (await rowsOf(deps, 'PRAGMA integrity_check(10)'))
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== 'ok');
  if (damage.length > 0) {
    findings.push(
      problem('database.integrity', `The database is damaged: ${damage[0]}.`, {
        remedy: 'stop the server, then: hearth restore BACKUP --confirm',
      }),
    );
  }
  const orphans = Map.groupBy(await rowsOf(deps, 'PRAGMA foreign_key_check'), ({ table }) => String(table));
  for (const [table, rows] of orphans) {
    findings.push(
      problem('database.foreign_keys', `${counted(rows.length, 'row', 'rows')} in ${table} refer to missing rows.`, {
        remedy: 'the database was changed manually: restore a backup, or correct the rows',
      }),
    );
  }
  const [mode] = await rowsOf(deps, 'PRAGMA journal_mode');
  if (mode?.['journal_mode'] !== 'wal') {
    findings.push(
      problem('database.journal_mode', `The journal mode is ${String(mode?.['journal_mode'])} instead of wal.`, {
        remedy: 'restart the server',
      }),
    );
  }
  const wal = (await stat(`${file}-wal`).catch(() => null))?.size ?? 0;
  if (wal > maxWalBytes) {
    findings.push(
      warning(
        'database.wal',
        `The write-ahead log is ${Math.round(wal / 1e6)} MB: a read transaction has been open for a long time.`,
        {
          remedy: 'restart the server',
        },
      ),
    );
  }
  const { mode: bits, size } = await stat(file);
  if ((bits & 0o077) !== 0)
    findings.push(problem('database.mode', 'Other users can read the database.', { remedy: `chmod 600 ${file}` }));
  findings.push(...(await checkRows(deps)), ...(await examineCounts(deps)));
  return {
    area: 'database',
    findings,
    summary: `integrity ok, ${Math.round(size / 1e5) / 10} MB, WAL ${Math.round(wal / 1e5) / 10} MB`,
  };
};

/** Limit in milliseconds: an older transaction retains dead rows of all tables. */
const longTransactionMs = 10 * 60_000;

/** The database server, its settings, and the same invariants between rows. */
const checkPostgres: CheckGroup = async (deps) => {
  const { version, at, bytes, server } = await readDatabaseFacts(deps.db);
  const pooler = await deps.db.pooler();
  const findings = server === null ? [] : judgeServer(server, pooler);
  findings.push(...(await checkRows(deps)), ...(await examineCounts(deps)));
  const { used, most } = server?.connections ?? { used: 0, most: 0 };
  const through = pooler === null ? '' : ` through PgBouncer (pool_mode ${pooler})`;
  return {
    area: 'database',
    findings,
    summary: `PostgreSQL ${version} at ${at}${through}, ${Math.round(bytes / 1e5) / 10} MB, ${used} of ${most} connections`,
  };
};

/** Information for an administrator of the database. */
export function judgeServer(server: PostgresState, pooler: PoolerMode | null): CheckResult[] {
  const { synchronousCommit, syncs, connections, oldestTransactionMs, hasTrigrams, laterStandbys, hasLimits } = server;
  const findings: CheckResult[] = [];
  if (!hasTrigrams)
    findings.push(
      problem('database.pg_trgm', 'The extension pg_trgm is missing: searches fail.', {
        remedy: 'in this database, as its administrator: CREATE EXTENSION pg_trgm; then: hearth reindex --search',
      }),
    );
  if (!syncs)
    findings.push(
      problem('database.fsync', 'fsync is off: a power failure can damage the database.', {
        remedy: 'in PostgreSQL: ALTER SYSTEM RESET fsync; SELECT pg_reload_conf();',
      }),
    );
  if (synchronousCommit === 'off' || synchronousCommit === 'local')
    findings.push(
      warning(
        'database.synchronous_commit',
        `synchronous_commit is ${synchronousCommit}: acknowledged changes can be lost.`,
        { remedy: 'in PostgreSQL: ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf();' },
      ),
    );
  if (laterStandbys > 0)
    findings.push(
      warning(
        'database.standby',
        'Commits do not wait for a standby: if one is promoted, the last acknowledged changes can be lost.',
        { remedy: "in PostgreSQL: ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (*)';" },
      ),
    );
  if (!hasLimits)
    findings.push(
      warning(
        'database.limits',
        `${pooler === null ? 'The server' : `PgBouncer (pool_mode ${pooler})`} drops the time limits of connections: a statement that reads for too long is not ended.`,
        {
          remedy:
            "in PostgreSQL, as Hearth's user: ALTER ROLE CURRENT_USER SET statement_timeout = '30s'; then in PgBouncer: RECONNECT;",
        },
      ),
    );
  const { used, most } = connections;
  if (used > most * 0.9)
    findings.push(
      warning('database.connections', `${used} of ${most} PostgreSQL connections are in use.`, {
        remedy: 'lower database.pool, or raise max_connections',
      }),
    );
  if (oldestTransactionMs > longTransactionMs)
    findings.push(
      warning(
        'database.long_transaction',
        `A transaction has been open for ${Math.round(oldestTransactionMs / 60_000)} minutes.`,
        {
          remedy: 'look for it in pg_stat_activity',
        },
      ),
    );
  return findings;
}

/** Invariants between rows that no constraint can express. */
async function checkRows(deps: Parameters<CheckGroup>[0]): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  const ownerless = await rowsOf(
    deps,
    `SELECT name FROM organisations o WHERE NOT EXISTS
    (SELECT 1 FROM organisation_members m WHERE m.organisation_id = o.id AND m.role = 'OWNER')`,
  );
  for (const { name } of ownerless) {
    findings.push(
      problem('people.ownerless_organisation', `The organisation ${String(name)} has no OWNER.`, {
        remedy: `hearth org member add ${String(name)} PERSON --role OWNER`,
      }),
    );
  }
  const [people] = await rowsOf(
    deps,
    'SELECT count(*) AS n, sum(CASE WHEN is_administrator = 1 AND disabled_at IS NULL THEN 1 ELSE 0 END) AS administrators FROM users',
  );
  if (Number(people?.['n']) > 0 && Number(people?.['administrators']) === 0) {
    findings.push(
      warning('people.no_administrator', 'This server has no administrator.', { remedy: 'hearth user admin NAME on' }),
    );
  }
  const nameless = await rowsOf(
    deps,
    `SELECT display FROM handles WHERE released_at IS NULL AND owner_id NOT IN
    (SELECT id FROM users UNION SELECT id FROM organisations)`,
  );
  for (const { display } of nameless) {
    findings.push(
      problem('people.dangling_handle', `The handle ${String(display)} belongs to an owner that does not exist.`, {
        remedy: 'restore a backup, or report a bug',
      }),
    );
  }
  const [future] = await rowsOf(
    deps,
    'SELECT max(created_at) AS newest FROM (SELECT created_at FROM users UNION ALL SELECT created_at FROM pushes UNION ALL SELECT created_at FROM repositories) times',
  );
  if (Number(future?.['newest'] ?? 0) > deps.now + 5 * 60_000) {
    findings.push(
      problem(
        'clock.behind',
        'The database contains times in the future: the clock was set back, and signatures of other servers fail.',
        {
          remedy: 'timedatectl set-ntp true',
        },
      ),
    );
  }
  return findings;
}

/**
 * Whether the maintained counts match the rows. Triggers maintain them; other changes of the file bypass the triggers.
 */
async function examineCounts(deps: Parameters<CheckGroup>[0]): Promise<CheckResult[]> {
  return [...(await examineUsage(deps)), ...(await examineTotals(deps))];
}

async function examineUsage(deps: Parameters<CheckGroup>[0]): Promise<CheckResult[]> {
  const wrong = await rowsOf(deps, compareUsage);
  if (wrong.length === 0) return [];
  return [
    warning('database.usage', `The storage sizes of ${counted(wrong.length, 'owner', 'owners')} are wrong.`, {
      remedy: 'hearth doctor --fix recomputes them',
      fix: () =>
        deps.db
          .write(({ manager }) => recountUsage(manager))
          .then(() => `recalculated the storage sizes of ${counted(wrong.length, 'owner', 'owners')}`),
    }),
  ];
}

async function examineTotals(deps: Parameters<CheckGroup>[0]): Promise<CheckResult[]> {
  const wrong = (await rowsOf(deps, compareCounts)).filter(({ stored, actual }) => stored !== actual);
  if (wrong.length === 0) return [];
  const words = wrong.map(
    ({ name, stored, actual }) => `${String(name)} is stored as ${String(stored)} and is ${String(actual)}`,
  );
  return [
    warning('database.counts', `Stored counts are wrong: ${words.join(', ')}.`, {
      remedy: 'hearth doctor --fix recomputes them',
      fix: () =>
        deps.db
          .write(({ manager }) => recount(manager))
          .then(() => `recalculated ${counted(wrong.length, 'count', 'counts')}`),
    }),
  ];
}
