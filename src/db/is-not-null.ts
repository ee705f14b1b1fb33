import { Raw } from 'typeorm';
import type { FindOperator } from 'typeorm';

/**
 * A condition for `find` and `update`. TypeORM writes `isNotNull()` as `NOT(column IS NULL)`, for which SQLite cannot
 * use a partial index declared `WHERE column IS NOT NULL`: the statement reads the whole table.
 */
export function isNotNull<T>(): FindOperator<T> {
  return Raw((column) => `${column} IS NOT NULL`);
}
