export { beginWriting, createDatabase } from './database.ts';
export { copyToPostgres, copyToSqlite } from './copy-between.ts';
export { askDatabaseFile, copyDatabase, databaseFileIn, checkDatabaseFile } from './database-file.ts';
export type { Database, DatabaseOptions, PoolerMode, Tx } from './database-interface.ts';
export { compareCounts, readCounts, recount } from './counters.ts';
export type { CountName } from './counters.ts';
export {
  contains,
  containsIndexed,
  databaseTime,
  dialectOf,
  greatest,
  idsIn,
  inList,
  isoTime,
  listTable,
  rows,
  rowsTable,
  skipLocked,
  upsert,
} from './dialect.ts';
export { ageKey, prefixRange, readAgeKey, readKeysetPage } from './keyset.ts';
export type { KeysetPage, KeysetPaging, KeysetRange } from './keyset.ts';
export { isNotNull } from './is-not-null.ts';
export { rowBy } from './row-cache.ts';
export { selectRaw, selectRows } from './select-rows.ts';
export type { RowSource } from './row-cache.ts';
export { isForeignKeyViolation, isUniqueViolation } from './constraint-errors.ts';
export { readUnfinishedUpgrade, removeUnfinishedUpgrade } from './unfinished-upgrade.ts';
export type { WriterConnection } from './writer-connection.ts';
export type { Baseline, Migration } from './migrations.ts';
export { openDatabaseThread } from './database-thread.ts';
export type { ThreadLimits, DatabaseThread } from './database-thread.ts';
export type { ThreadRow, ThreadStatement } from './thread-protocol.ts';
export type { Dialect } from './dialect.ts';
