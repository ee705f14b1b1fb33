import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { DomainError, internal, isDomainError, unavailable } from '../kernel/index.ts';
import { driverMessage, translateFault } from './constraint-errors.ts';

/**
 * One numbered step of the schema (SPEC §9). The statements are plain SQL, run
 * in one transaction each step; a list in `migrations/index.ts` names them all,
 * because a search of the disk finds nothing inside the executable.
 */
export interface Migration {
  version: number;
  name: string;
  statements: readonly string[];
}

export interface SchemaStep {
  version: number;
  name: string;
  state: 'applied' | 'pending';
}

/** Thirteen digits at the end of the name are what TypeORM sorts by. */
function recordedName({ version, name }: Migration): string {
  return `V${version}${name}${String(version).padStart(13, '0')}`;
}

/** TypeORM wants classes; each runs its statements and then proves that no row lost its parent. */
export function migrationClasses(migrations: readonly Migration[]): (new () => MigrationInterface)[] {
  return migrations.map(
    (migration) =>
      class implements MigrationInterface {
        name = recordedName(migration);

        async up(runner: QueryRunner): Promise<void> {
          try {
            for (const statement of migration.statements) await runner.query(statement);
            const orphans = (await runner.query('PRAGMA foreign_key_check')) as unknown[];
            if (orphans.length > 0) throw new Error(`it would leave ${orphans.length} row(s) without what they belong to`);
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

/** Which steps the file has, in order of version. */
export async function schemaSteps(source: DataSource, migrations: readonly Migration[]): Promise<SchemaStep[]> {
  const applied = await appliedNames(source);
  refuseNewerSchema(applied, migrations);
  return migrations.map((migration) => ({
    version: migration.version,
    name: migration.name,
    state: applied.has(recordedName(migration)) ? 'applied' : 'pending',
  }));
}

async function appliedNames(source: DataSource): Promise<Set<string>> {
  const tables = (await source.query("SELECT name FROM sqlite_master WHERE name = 'migrations'")) as unknown[];
  if (tables.length === 0) return new Set();
  const rows = (await source.query('SELECT name FROM migrations')) as { name: string }[];
  return new Set(rows.map((row) => row.name));
}

/** An older program would read new rows wrongly and write wrong ones: it must not start. */
function refuseNewerSchema(applied: Set<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(recordedName));
  const unknown = [...applied].filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new DomainError(
    'unavailable',
    'schema_newer',
    `The database was made by a newer Hearth (it has ${unknown.map((name) => name.replace(/\d{13}$/, '')).join(', ')}). Nothing was changed.`,
  );
}
