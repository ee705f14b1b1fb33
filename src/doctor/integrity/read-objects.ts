import { listReferencedObjects } from '../../objects/index.ts';
import type { ObjectKind, ObjectStore, QueryRows } from '../../objects/index.ts';
import { isIntact } from '../objects/check-objects.ts';
import type { ReadingPosition } from './integrity-records.ts';

const mostNamed = 20;

interface ReadOptions {
  store: ObjectStore;
  ask: QueryRows;
  /** Position and results of an earlier, incomplete reading. */
  position: ReadingPosition | null;
  found: readonly string[];
  /** Called after each object: false ends the reading, which the next call continues. */
  shouldContinue(): Promise<boolean>;
}

interface ReadObjects {
  read: number;
  /** Null if every object was read. */
  position: ReadingPosition | null;
  /** Keys of missing and changed objects, at most twenty. */
  found: string[];
}

/**
 * Reads the objects of a kind in the order of their rows and compares their digests, from the position where the last
 * call ended. Skips logs that are not in the store yet. Throws `object_store_unavailable`.
 */
export async function readObjects(kind: ObjectKind, options: ReadOptions): Promise<ReadObjects> {
  const { store, ask } = options;
  const found = [...options.found];
  let { after, skip } = options.position ?? { after: kind.start, skip: 0 };
  let [row, ofRow, read]: [string | number | null, number, number] = [null, 0, 0];
  for await (const { at, ...object } of listReferencedObjects(kind, ask, after)) {
    if (at !== row) {
      if (row !== null) [after, skip] = [row, 0];
      [row, ofRow] = [at, 0];
    }
    ofRow += 1;
    if (ofRow <= skip) continue;
    const there = await store.stat(object.key);
    const isWhole =
      there === null
        ? kind.name === 'logs'
        : (object.bytes ?? there.bytes) === there.bytes && (await isIntact(store, object));
    if (!isWhole && (await isStillNamed(kind, ask, { after, at, key: object.key })) && found.length < mostNamed)
      found.push(object.key);
    read += 1;
    if (!(await options.shouldContinue())) return { read, position: { after, skip: ofRow }, found };
  }
  return { read, position: null, found };
}

/** A row may be removed with its object while the objects are read. */
async function isStillNamed(
  kind: ObjectKind,
  ask: QueryRows,
  { after, at, key }: { after: string | number; at: string | number; key: string },
): Promise<boolean> {
  for await (const one of listReferencedObjects(kind, ask, after)) {
    if (one.key === key) return true;
    if (one.at !== at && one.at > at) return false;
  }
  return false;
}
