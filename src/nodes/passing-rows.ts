import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { databaseTime, rows, skipLocked } from '../db/index.ts';

/** How many rows are removed beside a new one. */
const removedAtOnce = 100;

/** Names rows without what they are about: names of accounts and tokens are not in the database. */
export const digestOf = (kind: string, name: string): string =>
  createHash('sha256').update(`${kind} ${name}`).digest('hex');

/** Inside a write: removes some rows whose time is over, so that the table stays as small as what is wanted. */
export const removePassed = (manager: EntityManager, table: 'attempts' | 'kept_values'): Promise<unknown> =>
  rows(
    manager,
    `DELETE FROM ${table} WHERE id IN
      (SELECT id FROM ${table} WHERE until <= ${databaseTime()} LIMIT ${removedAtOnce} ${skipLocked()})`,
  );
