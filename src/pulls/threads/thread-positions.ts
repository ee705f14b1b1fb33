import { idsIn } from '../../db/index.ts';
import type { EntryLog, Issue } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { threadPositionSchema, threadSchema } from '../schema/review-schema.ts';
import type { ThreadPositionRow, ThreadRow, ThreadState } from '../schema/review-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import { trackThreads } from './track-threads.ts';

/** Position of a thread in a round. */
export interface ThreadPlace {
  state: ThreadState;
  /** Null for the round as a whole, and if the file was deleted. */
  path: string | null;
  firstLine: number | null;
  lastLine: number | null;
}

type PositionDeps = Pick<PullDeps, 'db' | 'git' | 'logger'>;

/** Rows per statement. */
const batch = 100;

/**
 * Positions of threads in a round, by thread: recorded with the round, or computed and recorded now, for example for a
 * thread created later on an earlier round. Omits threads of later rounds, and threads that git currently cannot
 * follow.
 * @param path folder of the repository
 */
export async function placesIn(
  deps: PositionDeps,
  path: string,
  issueId: string,
  threads: readonly ThreadRow[],
  round: number,
): Promise<Map<string, ThreadPlace>> {
  const places = new Map<string, ThreadPlace>();
  const rounds = await deps.db.read.findBy(roundSchema, { issueId });
  const byNumber = new Map(rounds.map((row) => [row.round, row]));
  const heads = byNumber.get(round);
  const asked: ThreadRow[] = [];
  for (const thread of threads) {
    const isHere = thread.round === round && thread.commitOid === heads?.headOid;
    if (isHere) places.set(thread.id, { ...placeOf(thread), state: 'same' });
    else if (thread.round <= round) asked.push(thread);
  }
  const rows =
    asked.length === 0
      ? []
      : await deps.db.read
          .createQueryBuilder(threadPositionSchema, 'p')
          .where(
            ...idsIn(
              'p.thread_id',
              asked.map(({ id }) => id),
            ),
          )
          .andWhere('p.round = :round', { round })
          .getMany();
  for (const row of rows) places.set(row.threadId, { ...placeOf(row), state: row.state });
  const missing = asked.filter(({ id }) => !places.has(id));
  if (missing.length === 0 || heads === undefined) return places;
  try {
    const followed = await trackThreads(deps, path, missing, byNumber, heads);
    for (const row of followed) places.set(row.threadId, { ...placeOf(row), state: row.state });
    // Derived data: if a power failure loses it, it is computed again.
    await deps.db.write((tx) => insertPositions(tx, followed), { durable: 'with-the-next' });
  } catch (error) {
    if (isDomainError(error) && error.code === 'unavailable') throw error;
    deps.logger.warn('pull.threads_not_followed', { issueId, round, error });
  }
  return places;
}

const placeOf = ({ path, firstLine, lastLine }: Omit<ThreadPlace, 'state'>): Omit<ThreadPlace, 'state'> => ({
  path,
  firstLine,
  lastLine,
});

/** Follows all threads of a pull request to a round that is about to be recorded. Slow, so it runs before the write. */
export async function prepareThreads(
  deps: PositionDeps,
  path: string,
  issueId: string,
  next: { headOid: string; baseOid: string },
): Promise<ThreadPositionRow[]> {
  const threads = await deps.db.read.findBy(threadSchema, { issueId });
  if (threads.length === 0) return [];
  const rounds = await deps.db.read.findBy(roundSchema, { issueId });
  try {
    const byNumber = new Map(rounds.map((row) => [row.round, row]));
    return await trackThreads(deps, path, threads, byNumber, { ...next, round: 0 });
  } catch (error) {
    // A round never fails because of its threads: they are followed when a page shows them.
    deps.logger.warn('pull.threads_not_followed', { issueId, headOid: next.headOid, error });
    return [];
  }
}

/** Records the positions in the write of the round. */
export async function recordThreads(
  { tx }: EntryLog,
  issue: Pick<Issue, 'id'>,
  round: number,
  prepared: readonly ThreadPositionRow[],
): Promise<void> {
  // A draft may have been discarded since.
  const threads = new Set((await tx.manager.findBy(threadSchema, { issueId: issue.id })).map(({ id }) => id));
  await insertPositions(
    tx,
    prepared.flatMap((row) => (threads.has(row.threadId) ? [{ ...row, round }] : [])),
  );
}

async function insertPositions(
  { manager }: Pick<EntryLog['tx'], 'manager'>,
  rows: readonly ThreadPositionRow[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += batch)
    await manager
      .createQueryBuilder()
      .insert()
      .into(threadPositionSchema)
      .values(rows.slice(start, start + batch))
      .orIgnore()
      .execute();
}
