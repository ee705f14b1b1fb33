import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { rows, rowsTable } from '../db/index.ts';
import type { Database, Tx } from '../db/index.ts';
import { refFailures } from '../git/index.ts';
import type { CachedRef, RefEnd, RefResult } from '../git/index.ts';
import { storedPackSchema, storedRepositorySchema } from './schema.ts';
import type { StoredPack, StoredRepository } from './schema.ts';
import { noRef } from '../kernel/index.ts';

/** A change of a ref. Ids are full; all zeros mean "no ref". */
export interface StoreMove {
  ref: string;
  /** Null if the change does not depend on it. */
  oldId: string | null;
  newId: string;
}

/** A consistent snapshot of the data in a folder. */
export interface StoredState {
  row: StoredRepository;
  packs: StoredPack[];
  /** Sorted by the bytes of their names. */
  refs: CachedRef[];
}

const rowsAtOnce = 2_000;
const maxTries = 20;

/** The refs of a repository, in pages: one statement would block the event loop. */
async function* listRefs(manager: EntityManager, repository: string): AsyncGenerator<CachedRef> {
  for (let after = ''; ; ) {
    const page = await rows<CachedRef>(
      manager,
      `SELECT name, oid, peeled FROM git_refs
        WHERE repository = ? AND name > ? AND oid IS NOT NULL ORDER BY name LIMIT ${rowsAtOnce}`,
      [repository, after],
    );
    yield* page;
    if (page.length < rowsAtOnce) return;
    after = page.at(-1)!.name;
    await nextTurn();
  }
}

/** A consistent set of refs, packs and generation; null if the repository is gone. */
export async function readState(db: Database, repository: string): Promise<StoredState | null> {
  for (let tries = 0; ; tries += 1) {
    const row = await db.read.findOneBy(storedRepositorySchema, { id: repository });
    if (row === null) return null;
    const packs = (await db.read.findBy(storedPackSchema, { repository })).filter((pack) => pack.replacedAt === null);
    const refs: CachedRef[] = [];
    for await (const ref of listRefs(db.read, repository)) refs.push(ref);
    const after = await db.read.findOneBy(storedRepositorySchema, { id: repository });
    // Several statements form a snapshot if nothing has changed in between.
    if (after?.generation === row.generation || tries === maxTries) return { row, packs, refs };
  }
}

const { moved, nameTaken } = refFailures;
const moveColumns = { position: 'bigint', name: 'text' } as const;

/**
 * Compares and sets refs inside a transaction. Deletions come first, to free a name: `a` for `a/b`. Of two conflicting
 * creations the first wins.
 * @param ends of the newly referenced objects
 * @returns the result of each, in order; with `isAtomic`, one failure fails all
 */
export async function setRefs(
  { manager, now }: Pick<Tx, 'manager' | 'now'>,
  { id: repository, generation }: Pick<StoredRepository, 'id' | 'generation'>,
  moves: readonly StoreMove[],
  { ends, isAtomic }: { ends: ReadonlyMap<string, RefEnd>; isAtomic: boolean },
): Promise<RefResult[]> {
  const reasons = new Map<StoreMove, string>();
  const list = (some: readonly string[]) => JSON.stringify(some.map((name, position) => [position, name]));
  const names = moves.map(({ ref }) => ref);
  const current = new Map(
    (
      await rows<{ name: string; oid: string }>(
        manager,
        `SELECT r.name AS name, r.oid AS oid FROM ${rowsTable(moveColumns)}
          JOIN git_refs r ON r.repository = ? AND r.name = list.name WHERE r.oid IS NOT NULL`,
        [list(names), repository],
      )
    ).map(({ name, oid }) => [name, oid]),
  );
  const seen = new Set<string>();
  for (const move of moves) {
    const { ref, oldId, newId } = move;
    const is = current.get(ref) ?? null;
    if (seen.has(ref)) reasons.set(move, 'the same ref twice');
    seen.add(ref);
    if (oldId !== null && (noRef.test(oldId) ? is !== null : is !== oldId)) reasons.set(move, moved);
    else if (
      !noRef.test(newId) &&
      ref.startsWith('refs/heads/') &&
      ends.has(newId) &&
      ends.get(newId)!.type !== 'commit'
    )
      reasons.set(move, 'a branch names a commit');
  }

  const created = moves.filter((move) => !reasons.has(move) && !noRef.test(move.newId) && !current.has(move.ref));
  if (created.length > 0) {
    const gone = new Set(moves.filter((move) => noRef.test(move.newId) && !reasons.has(move)).map(({ ref }) => ref));
    const above = new Map<string, string[]>();
    for (const { ref } of created)
      for (const folder of foldersOf(ref)) above.set(folder, [...(above.get(folder) ?? []), ref]);
    const parents = await rows<{ name: string }>(
      manager,
      `SELECT r.name AS name FROM ${rowsTable(moveColumns)}
        JOIN git_refs r ON r.repository = ? AND r.name = list.name WHERE r.oid IS NOT NULL`,
      [list([...above.keys()]), repository],
    );
    const taken = new Set(parents.map(({ name }) => name).filter((name) => !gone.has(name)));
    // `/` is followed by `0`.
    const below = await rows<{ position: number; name: string }>(
      manager,
      `SELECT list.position AS position, r.name AS name FROM ${rowsTable(moveColumns)}
        JOIN git_refs r ON r.repository = ? AND r.name > list.name || '/' AND r.name < list.name || '0'
        WHERE r.oid IS NOT NULL`,
      [list(created.map(({ ref }) => ref)), repository],
    );
    for (const { position, name } of below) if (!gone.has(name)) reasons.set(created[Number(position)]!, nameTaken);
    const folders = new Set<string>();
    for (const move of created) {
      const own = [...foldersOf(move.ref)];
      if (reasons.has(move)) continue;
      if (folders.has(move.ref) || own.some((folder) => taken.has(folder))) reasons.set(move, nameTaken);
      else {
        taken.add(move.ref);
        for (const folder of own) folders.add(folder);
      }
    }
  }

  if (isAtomic && reasons.size > 0)
    for (const move of moves) if (!reasons.has(move)) reasons.set(move, 'the push is atomic, and another ref failed');
  const accepted = moves.filter((move) => !reasons.has(move));
  for (let start = 0; start < accepted.length; start += rowsAtOnce)
    await writeRefs({ manager, now }, repository, generation, accepted.slice(start, start + rowsAtOnce), ends);
  return moves.map((move) => {
    const reason = reasons.get(move);
    return reason === undefined ? { ref: move.ref, ok: true } : { ref: move.ref, ok: false, reason };
  });
}

const rowColumns = { name: 'text', oid: 'text', peeled: 'text' } as const;

/** Sets refs whose names are known to be free, or whose current values are known to match. */
export async function writeRefs(
  { manager, now }: Pick<Tx, 'manager' | 'now'>,
  repository: string,
  generation: number,
  moves: readonly StoreMove[],
  ends: ReadonlyMap<string, RefEnd>,
): Promise<void> {
  const values = moves.map(({ ref, newId }) => [
    ref,
    noRef.test(newId) ? null : newId,
    noRef.test(newId) ? null : (ends.get(newId)?.peeled ?? null),
  ]);
  await manager.query(
    `INSERT INTO git_refs (repository, name, oid, peeled, generation, changed_at)
      SELECT CAST(? AS text), name, oid, peeled, CAST(? AS bigint), CAST(? AS bigint) FROM ${rowsTable(rowColumns)} WHERE true
      ON CONFLICT (repository, name) DO UPDATE
        SET oid = excluded.oid, peeled = excluded.peeled, generation = excluded.generation, changed_at = excluded.changed_at`,
    [repository, generation, now, JSON.stringify(values)],
  );
}

/** `refs/heads/a/b` is below `refs/heads/a`, `refs/heads` and `refs`. */
function* foldersOf(ref: string): Generator<string> {
  for (let slash = ref.lastIndexOf('/'); slash > 0; slash = ref.lastIndexOf('/', slash - 1)) yield ref.slice(0, slash);
}
