export { createDatabase } from './database.ts';
export type { Database, DatabaseOptions, Tx } from './database.ts';
export { isForeignKeyViolation, isUniqueViolation } from './constraint-errors.ts';
export type { Migration, SchemaStep } from './migrations.ts';
