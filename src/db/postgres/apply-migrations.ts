import type { Pool, PoolClient } from 'pg';
import { unavailable } from '../../kernel/index.ts';
import { recordedName, refuseNewerSchema, stepsOf } from '../migrations.ts';
import type { Baseline, Migration, SchemaStep } from '../migrations.ts';
import { schemaInPostgres } from './schema-words.ts';
import { isConnectionFault } from './faults.ts';
import { instanceLock } from './locks.ts';

type Client = Pick<Pool, 'query'>;

/** The steps and whether they are applied, in order of version. Refuses `schema_newer`. */
export async function postgresSteps(client: Client, migrations: readonly Migration[]): Promise<SchemaStep[]> {
  const { rows: tables } = await client.query("SELECT to_regclass('migrations') AS found");
  const applied = new Map<string, number | null>();
  if ((tables as { found: unknown }[])[0]?.found != null) {
    const { rows } = await client.query('SELECT name, applied_at FROM migrations');
    for (const row of rows as { name: string; applied_at: number | null }[]) applied.set(row.name, row.applied_at);
  }
  refuseNewerSchema([...applied.keys()], migrations);
  return stepsOf(migrations, applied);
}

/** The statements of a step; refuses by throwing what cannot be said in PostgreSQL's words. */
export const statementsInPostgres = (migration: Migration): readonly string[] =>
  migration.postgres ?? migration.statements.flatMap(schemaInPostgres);

/**
 * Applies the baseline to an empty database, and after it the steps that it does not have, each in one transaction.
 * Refuses `migration_failed`.
 * @returns the steps that were applied
 */
export async function applyInPostgres(
  pool: Pool,
  migrations: readonly Migration[],
  baseline: Baseline,
  now: number,
): Promise<SchemaStep[]> {
  const client = await pool.connect();
  try {
    const before = await postgresSteps(client, migrations);
    if (before.every(({ state }) => state === 'pending')) {
      const contained = migrations.filter(({ version }) => baseline.versions.includes(version));
      await applyStep(client, 'baseline', baseline.statements, contained, now);
    }
    for (const step of await postgresSteps(client, migrations)) {
      if (step.state === 'applied') continue;
      const migration = migrations.find(({ version }) => version === step.version)!;
      const named = `V${step.version} ${step.name}`;
      let statements: readonly string[];
      try {
        statements = statementsInPostgres(migration);
      } catch (error) {
        throw failed(named, error);
      }
      await applyStep(client, named, statements, [migration], now);
    }
    return before
      .filter(({ state }) => state === 'pending')
      .map((step) => ({ ...step, state: 'applied', appliedAt: now }));
  } finally {
    client.release();
  }
}

const failed = (named: string, cause: unknown) =>
  unavailable('migration_failed', `Migration ${named} failed and was undone: ${(cause as Error).message}`, { cause });

async function applyStep(
  client: PoolClient,
  named: string,
  statements: readonly string[],
  contained: readonly Migration[],
  now: number,
): Promise<void> {
  try {
    await client.query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT pg_advisory_xact_lock(${instanceLock})`,
    );
    for (const sql of statements) await client.query(sql);
    for (const migration of contained) {
      await client.query('INSERT INTO migrations (timestamp, name, applied_at) VALUES ($1, $2, $3)', [
        migration.version,
        recordedName(migration),
        now,
      ]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if (isConnectionFault(error)) throw error;
    throw failed(named, error);
  }
}
