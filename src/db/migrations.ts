import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { DomainError, internal, isDomainError, unavailable } from '../kernel/index.ts';
import { driverMessage, translateFault } from './constraint-errors.ts';
import { inList } from './dialect.ts';

/**
 * One numbered step of the schema (SPEC §9): plain SQL statements, run in one transaction per step.
 * `migrations/index.ts` lists all steps, because the executable has no folder to search.
 */
export interface Migration {
  version: number;
  name: string;
  statements: readonly string[];
  /** The same step for PostgreSQL, if translating `statements` is not enough. */
  postgres?: readonly string[];
}

/** A whole schema for PostgreSQL, with the versions of the steps that it includes. */
export interface Baseline {
  versions: readonly number[];
  statements: readonly string[];
}

export interface SchemaStep {
  version: number;
  name: string;
  state: 'applied' | 'pending';
  /** Epoch milliseconds; null for a pending step, and for one applied before times were recorded. */
  appliedAt: number | null;
}

/** TypeORM sorts by the thirteen digits at the end of the name. */
export function recordedName({ version, name }: Pick<Migration, 'version' | 'name'>): string {
  return `V${version}${name}${String(version).padStart(13, '0')}`;
}

/** TypeORM expects classes; each runs its statements and then checks foreign keys. */
export function migrationClasses(migrations: readonly Migration[]): (new () => MigrationInterface)[] {
  return migrations.map(
    (migration) =>
      class implements MigrationInterface {
        name = recordedName(migration);

        async up(runner: QueryRunner): Promise<void> {
          try {
            for (const statement of migration.statements) await runner.query(statement);
            const orphans = (await runner.query('PRAGMA foreign_key_check')) as unknown[];
            if (orphans.length > 0)
              throw new Error(`it would leave ${orphans.length} row(s) without what they belong to`);
          } catch (error) {
            throw failedStep(migration, error);
          }
        }

        async down(): Promise<void> {
          throw internal('Migrations are undone by restoring the snapshot taken before them');
        }
      },
  );
}

function failedStep({ version, name }: Migration, error: unknown): unknown {
  const fault = translateFault(error);
  if (isDomainError(fault)) return fault;
  return unavailable(
    'migration_failed',
    `Migration V${version} ${name} failed and was undone: ${driverMessage(error)}`,
    { cause: error },
  );
}

/** The steps and whether they are applied, in order of version. */
export async function schemaSteps(source: DataSource, migrations: readonly Migration[]): Promise<SchemaStep[]> {
  const applied = await appliedTimes(source);
  refuseNewerSchema([...applied.keys()], migrations);
  return stepsOf(migrations, applied);
}

/** @param applied times by recorded name */
export function stepsOf(migrations: readonly Migration[], applied: ReadonlyMap<string, number | null>): SchemaStep[] {
  return migrations.map((migration) => {
    const appliedAt = applied.get(recordedName(migration));
    return {
      version: migration.version,
      name: migration.name,
      state: appliedAt === undefined ? 'pending' : 'applied',
      appliedAt: appliedAt ?? null,
    };
  });
}

async function appliedTimes(source: DataSource): Promise<Map<string, number | null>> {
  const tables = (await source.query("SELECT name FROM sqlite_master WHERE name = 'migrations'")) as unknown[];
  if (tables.length === 0) return new Map();
  const rows = (await source.query('SELECT * FROM migrations')) as { name: string; applied_at?: number | null }[];
  return new Map(rows.map((row) => [row.name, row.applied_at ?? null]));
}

/** Records the time of newly applied steps, once the schema has a column for it. */
export async function recordApplied(
  source: DataSource,
  steps: readonly Pick<Migration, 'version' | 'name'>[],
  now: number,
): Promise<void> {
  const columns = (await source.query(
    "SELECT name FROM pragma_table_info('migrations') WHERE name = 'applied_at'",
  )) as unknown[];
  if (columns.length === 0) return;
  const names = steps.map((step) => recordedName(step));
  await source.query(`UPDATE migrations SET applied_at = ? WHERE ${inList('name')}`, [now, JSON.stringify(names)]);
}

/** An older program would misread newer rows and write wrong ones: it must not start. */
export function refuseNewerSchema(applied: readonly string[], migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(recordedName));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new DomainError(
    'unavailable',
    'schema_newer',
    `The database was made by a newer Hearth (it has ${unknown.map((name) => name.replace(/\d{13}$/, '')).join(', ')}). Nothing was changed.`,
  );
}
