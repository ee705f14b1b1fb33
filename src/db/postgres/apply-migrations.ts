import type { Pool, PoolClient } from 'pg';
import { unavailable } from '../../kernel/index.ts';
import { recordedName, refuseNewerSchema, stepsOf } from '../migrations.ts';
import type { Baseline, Migration, SchemaStep } from '../migrations.ts';
import { schemaInPostgres } from './schema-words.ts';
import { isConnectionFault } from './faults.ts';
import { instanceLock } from './locks.ts';

type Client = Pick<Pool, 'query'>;

/** The steps and whether they are applied, in order of version. Throws `schema_newer`. */
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

/** The statements of a step; throws if they cannot be translated to PostgreSQL. */
export const statementsInPostgres = (migration: Migration): readonly string[] =>
  migration.postgres ?? migration.statements.flatMap(schemaInPostgres);

/**
 * Applies the baseline and the remaining steps to an empty database; to any other one the missing steps, each in one
 * transaction. Several nodes may do so at once: the second finds it done. Throws `migration_failed`.
 * @returns the steps that were applied
 */
export async function applyInPostgres(
  pool: Pool,
  migrations: readonly Migration[],
  baseline: Baseline,
  now: number,
): Promise<SchemaStep[]> {
  const client = await pool.connect();
  const applied: SchemaStep[] = [];
  try {
    for (let isDone = false; !isDone; )
      isDone = await inTransaction(client, async () => {
        const steps = await postgresSteps(client, migrations);
        const pending = steps.filter(({ state }) => state === 'pending');
        const isNew = pending.length === steps.length;
        const next = isNew ? pending : pending.slice(0, 1);
        if (isNew) await run(client, 'baseline', baseline.statements);
        for (const step of next) {
          const migration = migrations.find(({ version }) => version === step.version)!;
          if (!isNew || !baseline.versions.includes(step.version)) await runStep(client, migration);
          await client.query('INSERT INTO migrations (timestamp, name, applied_at) VALUES ($1, $2, $3)', [
            step.version,
            recordedName(migration),
            now,
          ]);
          applied.push({ ...step, state: 'applied', appliedAt: now });
        }
        return next.length === pending.length;
      });
    return applied;
  } finally {
    client.release();
  }
}

/** Excludes all other writes of the instance. */
async function inTransaction(client: PoolClient, work: () => Promise<boolean>): Promise<boolean> {
  try {
    await client.query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0;
        SELECT pg_advisory_xact_lock(${instanceLock})`,
    );
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function runStep(client: PoolClient, migration: Migration): Promise<void> {
  const named = `V${migration.version} ${migration.name}`;
  let statements: readonly string[];
  try {
    statements = statementsInPostgres(migration);
  } catch (error) {
    throw failed(named, error);
  }
  await run(client, named, statements);
}

async function run(client: PoolClient, named: string, statements: readonly string[]): Promise<void> {
  try {
    for (const sql of statements) await client.query(sql);
  } catch (error) {
    if (isConnectionFault(error)) throw error;
    throw failed(named, error);
  }
}

const failed = (named: string, cause: unknown) =>
  unavailable('migration_failed', `Migration ${named} failed and was undone: ${(cause as Error).message}`, { cause });
