import { setTimeout as sleep } from 'node:timers/promises';
import { databaseTime, rows } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { isDomainError } from '../kernel/index.ts';

const askEveryMs = 250;
/** A result is shown on one screen. */
const longestResult = 4_000;

/** What a node did when it was asked to reload its settings. */
export interface NodeReload {
  id: string;
  host: string;
  /** Option keys; null unless the state is `reloaded`. */
  outcome: { applied: string[]; needRestart: string[] } | null;
  /** `restarted`: it has read its settings at its start meanwhile. `silent`: it has not answered yet. */
  state: 'reloaded' | 'refused' | 'restarted' | 'silent';
  /** Why the settings were refused. */
  refusal: string | null;
}

interface Row {
  id: string;
  host: string;
  asked: unknown;
  done: unknown;
  result: string | null;
}

/**
 * Asks all living nodes to reload their settings files, and waits for their answers: each looks every five seconds.
 * @param waitMs how long at most; those that have not answered by then are `silent`, and do so later
 */
export async function askAllToReload(db: Database, waitMs: number): Promise<NodeReload[]> {
  const asked = await db.write(({ manager }) =>
    rows<Row>(
      manager,
      `UPDATE nodes SET reload_asked = reload_asked + 1 WHERE until > ${databaseTime()}
        RETURNING id, reload_asked AS asked`,
      [],
    ),
  );
  const wanted = new Map(asked.map((row) => [row.id, Number(row.asked)]));
  for (let waitedMs = 0; ; waitedMs += askEveryMs) {
    const found = (
      await rows<Row>(
        db.read,
        'SELECT id, host, reload_done AS done, reload_result AS result FROM nodes ORDER BY host, id',
        [],
      )
    ).filter(({ id }) => wanted.has(id));
    const isDone = ({ id, done }: Row): boolean => Number(done) >= (wanted.get(id) ?? 0);
    if (waitedMs >= waitMs || found.every(isDone)) return found.map((row) => describe(row, isDone(row)));
    await sleep(askEveryMs);
  }
}

function describe({ id, host, result }: Row, isDone: boolean): NodeReload {
  const said = { id, host, outcome: null, refusal: null };
  if (!isDone) return { ...said, state: 'silent' };
  if (result === null) return { ...said, state: 'restarted' };
  const { refusal = null, ...outcome } = JSON.parse(result) as {
    refusal?: string;
    applied: string[];
    needRestart: string[];
  };
  return refusal === null ? { ...said, outcome, state: 'reloaded' } : { ...said, refusal, state: 'refused' };
}

/**
 * Reloads the settings of this node, and says so in its row.
 * @param asked the number of the request
 */
export async function reloadAsAsked(
  db: Database,
  { node, asked, reload }: { node: string; asked: number; reload: () => Promise<object> },
): Promise<void> {
  const result = await reload().then(
    (outcome) => JSON.stringify(outcome),
    (error: unknown) =>
      JSON.stringify({ refusal: isDomainError(error) ? error.message.slice(0, longestResult) : 'internal' }),
  );
  await db.write(
    ({ manager }) =>
      rows(manager, 'UPDATE nodes SET reload_done = ?, reload_result = ? WHERE id = ? AND reload_done < ?', [
        asked,
        result,
        node,
        asked,
      ]),
    { durable: 'with-the-next', scope: `node:${node}` },
  );
}
