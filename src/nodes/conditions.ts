import { databaseTime } from '../db/index.ts';
import type { Database } from '../db/index.ts';

type Node = Pick<Database, 'node'>;

/** A database that nobody else serves: everything in it is this process's. */
const everything = '1 = 1';

/**
 * How long a node whose time is over is left alone, in milliseconds: longer than PostgreSQL lets a transaction stand
 * still, so that nothing of that node commits any more.
 */
const graceMs = 5_000;

/** SQL condition: a row belongs to this process. @param column the name of its node */
export const belongsHere = ({ node }: Node, column: string): string =>
  node === null ? everything : `${column} = '${node}'`;

/**
 * SQL condition: a row belongs to nobody, or to a node that is gone: killed, or cut off from the database for long.
 * @param column the name of its node
 */
export const belongsToNobody = (column: string): string =>
  `NOT EXISTS (SELECT 1 FROM nodes living WHERE living.id = ${column} AND living.until + ${graceMs} > ${databaseTime()})`;

/** SQL condition: no other node is there, so what is claimed was claimed by a process that has ended. */
export const isAlone = ({ node }: Node): string =>
  node === null
    ? everything
    : `NOT EXISTS (SELECT 1 FROM nodes other WHERE other.id <> '${node}' AND other.until + ${graceMs} > ${databaseTime()})`;
