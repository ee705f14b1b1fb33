import { text } from 'node:stream/consumers';
import type { EntityManager } from 'typeorm';
import { rows } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { eachLimit } from '../kernel/index.ts';
import type { StoreDeps } from './deps.ts';
import { createJournal, listJournal } from './journal.ts';
import type { JournalEntry, JournalObject } from './journal.ts';
import { storedPackSchema, storedRefSchema, storedRepositorySchema } from './schema.ts';

/** A ref whose value in the journal differs from the rows; null if it is absent. */
interface ReplayedMove {
  ref: string;
  from: string | null;
  to: string | null;
}

/** Journal changes newer than a database's rows, by repository (`<uuid>`, or `<uuid>.wiki`). */
export interface Replay {
  /** Updated: number of moved refs, and the time when the last change of each was journalled. */
  replayed: { repository: string; refs: number; at: number }[];
  /** Only in the journal: created after the copy. Their packs stay in the store. */
  unknown: string[];
  /** Left the store after the copy, for a folder or permanently; unchanged from the copy. */
  ended: string[];
  /** With an unreadable journal object, or a gap between objects; unchanged from the copy. */
  broken: string[];
  /** Packs in the rows that are missing in the store. */
  missingPacks: string[];
}

interface ReplayOptions {
  /** Whether to write no rows. */
  isDry: boolean;
  /** Whether the rows are a trial, so that the journal in the store stays unchanged. */
  isTrial?: boolean;
  /** Runs inside the transaction that moves the refs of a repository. */
  onMoved(tx: Tx, repository: string, moves: readonly ReplayedMove[]): Promise<void>;
}

type Deps = Pick<StoreDeps, 'db' | 'objects' | 'clock' | 'random' | 'logger'>;

const atOnce = 4;

/**
 * Updates the refs and packs of an older database copy from the journal in the store, so that acknowledged changes are
 * included. No server may serve the database. Idempotent. Throws `object_store_unavailable`.
 */
export async function replayJournal(deps: Deps, { isDry, isTrial = false, onMoved }: ReplayOptions): Promise<Replay> {
  const { db, objects } = deps;
  const journal = new Map<string, JournalEntry[]>();
  for await (const entry of listJournal(objects))
    journal.set(entry.repository, [...(journal.get(entry.repository) ?? []), entry]);
  const found: Replay = { replayed: [], unknown: [], ended: [], broken: [], missingPacks: [] };
  const write = createJournal(deps as StoreDeps);

  async function replay(repository: string, entries: readonly JournalEntry[]): Promise<void> {
    const row = await db.read.findOneBy(storedRepositorySchema, { id: repository });
    const last = entries.reduce((one, other) => (other.generation > one.generation ? other : one));
    if (row === null) {
      if (!last.isEnd) found.unknown.push(repository);
      return;
    }
    if (last.isEnd && last.generation >= row.generation) {
      found.ended.push(repository);
      if (isDry || isTrial) return;
      await db.write(({ manager }) =>
        manager.update(storedRepositorySchema, { id: repository }, { generation: last.generation + 1 }),
      );
      return write.write(repository, last.generation + 1);
    }
    const newer = entries.filter(({ generation, isEnd }) => !isEnd && generation > row.generation);
    const read: JournalObject[] = [];
    for (const { key } of newer.sort((one, other) => one.generation - other.generation)) {
      const object = await readJournal(deps, key, repository);
      if (object === null) return void found.broken.push(repository);
      read.push(object);
    }
    if (read.length === 0) return;
    let reached = row.generation;
    for (const { since, generation } of read) {
      if (since > reached) return void found.broken.push(repository);
      reached = Math.max(reached, generation);
    }
    const at = Math.max(...read.map((object) => object.at));
    if (isDry) return void found.replayed.push({ repository, refs: await countMoves(db.read, read), at });
    const moves = await db.write(async (tx) => {
      const applied: ReplayedMove[] = [];
      for (const object of read) applied.push(...(await apply(tx, object)));
      const both = joined(applied);
      if (both.length > 0) await onMoved(tx, repository, both);
      return both;
    });
    found.replayed.push({ repository, refs: moves.length, at });
    const keys = new Set(
      read.flatMap(({ packs }) => packs.flatMap((pack) => (pack.replacedAt === null ? pack.key : []))),
    );
    for (const key of keys)
      for (const name of [`${key}.pack`, `${key}.idx`])
        if ((await objects.stat(name)) === null) found.missingPacks.push(name);
  }

  await eachLimit([...journal], atOnce, ([repository, entries]) => replay(repository, entries));
  return found;
}

async function readJournal({ objects, logger }: Deps, key: string, repository: string): Promise<JournalObject | null> {
  const opened = await objects.get(key);
  if (opened === null) return null;
  try {
    const object = JSON.parse(await text(opened.stream)) as JournalObject;
    if (object.format === 1 && object.repository === repository && Array.isArray(object.refs)) return object;
  } catch (error) {
    logger.warn('repository_store.journal_unreadable', { key, error });
  }
  return null;
}

/** Applies one journal object to the rows. Keeps rows that are already newer. */
async function apply({ manager, now }: Tx, object: JournalObject): Promise<ReplayedMove[]> {
  const { repository } = object;
  const moves: ReplayedMove[] = [];
  for (const { name, oid, peeled, generation } of object.refs) {
    const before = await manager.findOneBy(storedRefSchema, { repository, name });
    if (before !== null && before.generation >= generation) continue;
    await manager.upsert(storedRefSchema, { repository, name, oid, peeled, generation, changedAt: now }, [
      'repository',
      'name',
    ]);
    if ((before?.oid ?? null) !== oid) moves.push({ ref: name, from: before?.oid ?? null, to: oid });
  }
  for (const pack of object.packs)
    await manager.upsert(storedPackSchema, { repository, ...pack }, ['repository', 'key']);
  const generations = [...object.refs, ...object.packs].map(({ generation }) => generation);
  const replaced = object.packs.flatMap(({ replacedGeneration }) => replacedGeneration ?? []);
  await manager.update(
    storedRepositorySchema,
    { id: repository },
    {
      head: object.head,
      // Rows are read one after the other when an object is created, so some may be newer than the object.
      generation: Math.max(object.generation, ...generations, ...replaced),
      droppedGeneration: object.droppedGeneration,
      journalled: object.generation,
    },
  );
  return moves;
}

/** From the previous to the current value of each ref. */
function joined(moves: readonly ReplayedMove[]): ReplayedMove[] {
  const byRef = new Map<string, ReplayedMove>();
  for (const move of moves) byRef.set(move.ref, { ...move, from: (byRef.get(move.ref) ?? move).from });
  return [...byRef.values()].filter(({ from, to }) => from !== to);
}

async function countMoves(manager: EntityManager, read: readonly JournalObject[]): Promise<number> {
  const last = new Map(
    read.flatMap(({ repository, refs }) => refs.map(({ name, oid }) => [name, { repository, oid }])),
  );
  let count = 0;
  for (const [name, { repository, oid }] of last) {
    const [row] = await rows<{ oid: string | null }>(
      manager,
      'SELECT oid FROM git_refs WHERE repository = ? AND name = ?',
      [repository, name],
    );
    if ((row?.oid ?? null) !== oid) count += 1;
  }
  return count;
}
