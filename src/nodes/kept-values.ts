import { databaseTime, rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import type { Clock, Random } from '../kernel/index.ts';
import { decrypt, encrypt } from '../sealing/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import { digestOf, removePassed } from './passing-rows.ts';

/** Secrets and forms that a person gets back within minutes, at whatever node the next request arrives. */
interface KeptValues {
  /** Keeps a value, instead of an earlier one with this name. */
  keep(name: string, value: string): Promise<void>;
  /** Null for one that is unknown or whose time is over. */
  find(name: string): Promise<string | null>;
  /** Finds a value and removes it: of several callers one gets it. */
  take(name: string): Promise<string | null>;
}

interface KeptValuesDeps {
  db: Pick<Database, 'node' | 'read' | 'write'>;
  clock: Clock;
  random: Random;
  instanceKey: InstanceKey;
}

interface KeptValuesOptions {
  /** What the values are; part of their names. */
  kind: string;
  ttlMs: number;
  /** How much one process keeps in memory: the oldest values go first. */
  most: { values: number; characters: number };
}

/** Opens the values of one kind. */
export type OpenKeptValues = (options: KeptValuesOptions) => KeptValues;

/**
 * Keeps values in memory where a process has the database for itself: a restart loses them. Where several serve it,
 * they are sealed rows under digests of their names.
 */
export function createKeptValues(deps: KeptValuesDeps, options: KeptValuesOptions): KeptValues {
  return deps.db.node === null ? inMemory(deps, options) : inRows(deps, options);
}

function inMemory({ clock }: KeptValuesDeps, { ttlMs, most }: KeptValuesOptions): KeptValues {
  // In the order of their end: each is kept for the same time, and stands at the end again when it is replaced.
  const values = new Map<string, { value: string; until: number; size: number }>();
  let characters = 0;

  function forget(name: string): void {
    characters -= values.get(name)?.size ?? 0;
    values.delete(name);
  }

  function find(name: string): string | null {
    const found = values.get(name);
    return found !== undefined && found.until > clock.now() ? found.value : null;
  }

  return {
    async keep(name, value) {
      forget(name);
      const size = name.length + value.length;
      for (const [oldest, { until }] of values) {
        if (until > clock.now() && values.size < most.values && characters + size <= most.characters) break;
        forget(oldest);
      }
      values.set(name, { value, until: clock.now() + ttlMs, size });
      characters += size;
    },
    find: async (name) => find(name),
    async take(name) {
      const found = find(name);
      forget(name);
      return found;
    },
  };
}

function inRows({ db, random, instanceKey }: KeptValuesDeps, { kind, ttlMs }: KeptValuesOptions): KeptValues {
  const use = `kept ${kind}`;
  const now = databaseTime();
  const idOf = (name: string): string => digestOf(kind, name);
  const opened = (id: string, [row]: { value: string }[]): string | null =>
    row === undefined ? null : decrypt(instanceKey.decrypting(use), id, row.value);

  return {
    async keep(name, value) {
      const id = idOf(name);
      const sealed = encrypt(instanceKey.for(use), random, id, value);
      await db.write(
        async ({ manager }) => {
          await removePassed(manager, 'kept_values');
          await rows(
            manager,
            `INSERT INTO kept_values (id, value, until) VALUES (?, ?, ${now} + CAST(? AS BIGINT))
              ON CONFLICT (id) DO UPDATE SET value = excluded.value, until = excluded.until`,
            [id, sealed, ttlMs],
          );
        },
        { scope: `kept:${id}`, durable: 'with-the-next' },
      );
    },
    async find(name) {
      const id = idOf(name);
      return opened(id, await rows(db.read, `SELECT value FROM kept_values WHERE id = ? AND until > ${now}`, [id]));
    },
    async take(name) {
      const id = idOf(name);
      const taken = await db.write(
        ({ manager }) =>
          rows<{ value: string; isThere: unknown }>(
            manager,
            `DELETE FROM kept_values WHERE id = ? RETURNING value, until > ${now} AS "isThere"`,
            [id],
          ),
        { scope: `kept:${id}`, durable: 'with-the-next' },
      );
      return opened(
        id,
        taken.filter(({ isThere }) => Boolean(isThere)),
      );
    },
  };
}
