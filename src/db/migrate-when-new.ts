import { DomainError } from '../kernel/index.ts';
import type { Database } from './database-interface.ts';

/** An interrupted first start leaves a file without a schema, which still counts as new. */
export async function migrateWhenNew(database: Pick<Database, 'schema' | 'migrate'>): Promise<void> {
  const steps = await database.schema();
  const pending = steps.filter((step) => step.state === 'pending');
  if (pending.length === 0) return;
  if (pending.length === steps.length) return void (await database.migrate());
  throw new DomainError(
    'unavailable',
    'schema_behind',
    `The database is older than this program: it needs V${pending.at(-1)!.version}.`,
  );
}
