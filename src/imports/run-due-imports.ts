import { In } from 'typeorm';
import type { EntitySchema, FindOptionsWhere } from 'typeorm';
import { rows, skipLocked } from '../db/index.ts';
import { isAlone } from '../nodes/index.ts';
import type { ImportDeps } from './deps.ts';
import { importSchema } from './schema/import-schema.ts';
import type { ImportRow } from './schema/import-schema.ts';
import { leaseMs } from './context/run-context.ts';
import { runGroup } from './groups/run-group.ts';
import { importGroupSchema } from './schema/group-schema.ts';
import type { ImportGroupRow } from './schema/group-schema.ts';
import { runImport } from './run/run-import.ts';

/** Limit of concurrent imports: more would only share the processor. */
const slots = 2;

interface ImportRunner {
  /** Runs due imports and waits for them; a second call joins the first. */
  run(): Promise<number>;
  /** Aborts running imports; they resume from their last step at the next start. */
  stop(): Promise<void>;
}

export function createImportRunner(deps: ImportDeps): ImportRunner {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking: Promise<number> | null = null;
  let again = false;

  async function look(): Promise<number> {
    let begun = 0;
    do {
      again = false;
      for (let group = await claimGroup(deps); group !== null; group = await claimGroup(deps)) {
        begun += 1;
        const work: Promise<void> = runGroup(deps, group, stopping.signal).finally(() => running.delete(work));
        running.add(work);
        await work;
        if (stopping.signal.aborted) return begun;
      }
      for (let row = await claim(deps); row !== null; row = await claim(deps)) {
        begun += 1;
        const { id } = row;
        const work: Promise<void> = runImport(deps, row, stopping.signal)
          .catch((error: unknown) => deps.logger.error('import.not_recorded', { importId: id, error }))
          .finally(() => running.delete(work));
        running.add(work);
        if (running.size >= slots) await Promise.race(running);
        if (stopping.signal.aborted) return begun;
      }
      await Promise.all(running);
    } while (again);
    return begun;
  }

  return {
    run() {
      if (stopping.signal.aborted) return Promise.resolve(0);
      again = true;
      return (looking ??= look().finally(() => (looking = null)));
    },
    async stop() {
      stopping.abort(new Error('the server stops'));
      await Promise.all(running);
    },
  };
}

const claim = (deps: ImportDeps): Promise<ImportRow | null> =>
  claimLongestDue(deps, 'imports', importSchema, "state IN ('running', 'done')");

const claimGroup = (deps: ImportDeps): Promise<ImportGroupRow | null> =>
  claimLongestDue(deps, 'import_groups', importGroupSchema, "state = 'running'");

/** The longest due row that no worker has claimed; null if there is none. */
async function claimLongestDue<Row extends { id: string }>(
  { db, clock }: ImportDeps,
  table: string,
  schema: EntitySchema<Row>,
  isOpen: string,
): Promise<Row | null> {
  const at = clock.now();
  const isDue = `${isOpen} AND next_at <= ? AND locked_until <= ?`;
  const due: unknown[] = await db.read.query(`SELECT 1 FROM ${table} WHERE ${isDue} LIMIT 1`, [at, at]);
  if (due.length === 0) return null;
  return db.write(async ({ manager, now }) => {
    const claimed = await rows<{ id: string }>(
      manager,
      `UPDATE ${table} SET locked_until = ? WHERE id IN (
        SELECT id FROM ${table} WHERE ${isDue} ORDER BY next_at LIMIT 1 ${skipLocked()})
       RETURNING id`,
      [now + leaseMs, now, now],
    );
    return manager.findOneBy(schema, { id: In(claimed.map(({ id }) => id)) } as FindOptionsWhere<Row>);
  });
}

/** At start: releases the claims of a killed process; claims of another node expire by themselves. */
export async function freeClaims({ db }: Pick<ImportDeps, 'db'>): Promise<void> {
  const claims = `locked_until > 0 AND ${isAlone(db)}`;
  const claimed = await rows(db.read, `SELECT 1 FROM imports WHERE ${claims} LIMIT 1`);
  if (claimed.length > 0)
    await db.write(({ manager }) => rows(manager, `UPDATE imports SET locked_until = 0 WHERE ${claims}`));
  const groups = `locked_until > 0 AND ${isAlone(db)}`;
  const claimedGroups = await rows(db.read, `SELECT 1 FROM import_groups WHERE ${groups} LIMIT 1`);
  if (claimedGroups.length > 0)
    await db.write(({ manager }) => rows(manager, `UPDATE import_groups SET locked_until = 0 WHERE ${groups}`));
}
