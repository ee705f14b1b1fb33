export { createDatabase } from './database.ts';
export { askDatabaseFile, copyDatabase, examineDatabase } from './database-file.ts';
export type { DatabaseHealth } from './database-file.ts';
export type { Database, DatabaseOptions, Tx } from './database.ts';
export { isForeignKeyViolation, isUniqueViolation } from './constraint-errors.ts';
export type { Migration, SchemaStep } from './migrations.ts';
export { openSideThread } from './side-thread.ts';
export type { SideLimits, SideThread } from './side-thread.ts';
export type { SideOptions, SideRow, SideStatement } from './side-protocol.ts';
