import { isAlone } from '../nodes/index.ts';
/**
 * Mirrors are not handled by the outbox. A message is created by a write, handled once and kept as a record; a mirror
 * is one permanent row, whose due time, failures, pause and trusted host key are shown on its page and edited by
 * administrators. As a message, each would be in two tables that must agree, and each success would require a new
 * message. A crash loses nothing here: the due time stays in the row. A mirror is claimed only when one of two slots is
 * free, whereas the drain of the outbox claims ahead, so that a lease of three hours means a running transfer.
 */
import { In } from 'typeorm';
import { rows, skipLocked } from '../db/index.ts';
import { mirrorSchema } from './mirror-schema.ts';
import type { MirrorRow } from './mirror-schema.ts';
import type { MirrorDeps } from './deps.ts';
import { leaseMs, sync } from './sync.ts';

/** Limit of concurrent transfers. */
const slots = 2;

interface MirrorRunner {
  /** Runs due mirrors; a second call joins the first, and mirrors that became due meanwhile also run. */
  run(): Promise<number>;
  /** Aborts running transfers; they are due again at the next start. */
  stop(): Promise<void>;
}

export function createRunner(deps: MirrorDeps): MirrorRunner {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking: Promise<number> | null = null;
  let again = false;
  let wakeUp = (): void => {};

  async function look(): Promise<number> {
    let begun = 0;
    do {
      again = false;
      for (;;) {
        const row = await claim(deps);
        if (row === null) {
          if (running.size === 0) break;
          // Waits until a transfer ends, for which a copy may wait, or another mirror becomes due.
          await Promise.race([...running, new Promise<void>((resolve) => (wakeUp = resolve))]);
          if (stopping.signal.aborted) return begun;
          continue;
        }
        begun += 1;
        const work: Promise<void> = sync(deps, row, stopping.signal)
          .catch((error: unknown) =>
            deps.logger.error('mirror.not_recorded', { repositoryId: row.repositoryId, error }),
          )
          .finally(() => running.delete(work));
        running.add(work);
        if (running.size >= slots) await Promise.race(running);
        if (stopping.signal.aborted) return begun;
      }
    } while (again);
    return begun;
  }

  return {
    run() {
      if (stopping.signal.aborted) return Promise.resolve(0);
      again = true;
      wakeUp();
      return (looking ??= look().finally(() => (looking = null)));
    },
    async stop() {
      stopping.abort(new Error('the server stops'));
      wakeUp();
      await Promise.all(running);
    },
  };
}

/** Copies take at most one slot: a host chosen by a user can be slow on purpose. */
const isDue = `is_paused = 0 AND next_at <= ? AND locked_until <= ? AND (is_copy = 0 OR NOT EXISTS
  (SELECT 1 FROM mirrors running WHERE running.is_copy = 1 AND running.locked_until > ?))`;

/** The longest due mirror that no worker has claimed; null if there is none. */
async function claim({ db, clock }: MirrorDeps): Promise<MirrorRow | null> {
  const at = clock.now();
  const due: unknown[] = await db.read.query(`SELECT 1 FROM mirrors WHERE ${isDue} LIMIT 1`, [at, at, at]);
  if (due.length === 0) return null;
  return db.write(async ({ manager, now }) => {
    const claimed = await rows<{ repository_id: string }>(
      manager,
      `UPDATE mirrors SET locked_until = ?, last_started_at = ? WHERE repository_id IN (
        SELECT repository_id FROM mirrors WHERE ${isDue} ORDER BY next_at LIMIT 1 ${skipLocked()})
       RETURNING repository_id`,
      [now + leaseMs, now, now, now, now],
    );
    return manager.findOneBy(mirrorSchema, { repositoryId: In(claimed.map((row) => row.repository_id)) });
  });
}

/** At start: releases the claims of a killed process; those of other running nodes expire by themselves. */
export async function freeClaims({ db }: MirrorDeps): Promise<void> {
  const claims = `locked_until > 0 AND ${isAlone(db)}`;
  const claimed = await rows(db.read, `SELECT 1 FROM mirrors WHERE ${claims} LIMIT 1`);
  if (claimed.length > 0)
    await db.write(({ manager }) => rows(manager, `UPDATE mirrors SET locked_until = 0 WHERE ${claims}`));
}
