import { createHash } from 'node:crypto';
import { listReferencedObjects } from '../../objects/index.ts';
import type { QueryRows, ReferencedObject, ObjectKind, ObjectStore } from '../../objects/index.ts';
import { dayMs } from '../deps.ts';

interface ObjectFault {
  key: string;
  /**
   * `missing`: not in the store; `elsewhere`: in the other store; `changed`: other bytes; `foreign`: not referenced by
   * any row.
   */
  fault: 'missing' | 'elsewhere' | 'changed' | 'foreign';
}

export interface CheckedKind {
  kind: string;
  /** Number of referenced objects, and the sum of their sizes from rows or the store. */
  objects: number;
  bytes: number;
  faults: ObjectFault[];
}

interface CheckOptions {
  store: ObjectStore;
  /** The folder of a server whose objects are in a bucket; null otherwise. */
  folder: ObjectStore | null;
  ask: QueryRows;
  /** Whether to read every object and compare its digest. */
  read: boolean;
  /** Epoch milliseconds. */
  now: number;
  onObject?: (key: string) => void;
}

/**
 * Compares the rows of a kind with the content of the store. An unreferenced object counts only after a day: its row
 * may not be written yet. Holds the sizes of all objects of the kind in memory. Throws `object_store_unavailable`.
 */
export async function checkObjects(kind: ObjectKind, options: CheckOptions): Promise<CheckedKind> {
  const { store, folder, ask, now, onObject = () => {} } = options;
  // Reads rows first: the objects of existing rows are in the list, which is read later.
  const named: ReferencedObject[] = [];
  for await (const one of listReferencedObjects(kind, ask)) named.push(one);
  const there = new Map<string, number>();
  const young = new Set<string>();
  for await (const { key, bytes, storedAt } of store.list(kind.prefix)) {
    there.set(key, bytes);
    if (now - storedAt < dayMs) young.add(key);
  }
  const result: CheckedKind = { kind: kind.name, objects: 0, bytes: 0, faults: [] };
  for (const one of named) {
    onObject(one.key);
    result.objects += 1;
    const bytes = there.get(one.key);
    there.delete(one.key);
    result.bytes += one.bytes ?? bytes ?? 0;
    const isElsewhere = bytes === undefined && folder !== null && (await folder.stat(one.key)) !== null;
    // A log is complete some time before it is uploaded to the store.
    if (isElsewhere && kind.name === 'logs') continue;
    if (bytes === undefined) result.faults.push({ key: one.key, fault: isElsewhere ? 'elsewhere' : 'missing' });
    else if ((one.bytes ?? bytes) !== bytes || (options.read && !(await isIntact(store, one))))
      result.faults.push({ key: one.key, fault: 'changed' });
  }
  // A folder also contains files that are still being written under the same prefix; the doctor's other groups check
  // these.
  if (store.place === 's3')
    for (const key of there.keys()) if (!young.has(key)) result.faults.push({ key, fault: 'foreign' });
  return result;
}

/** Whether the bytes have the digest in the row, or otherwise the one with which they were stored. */
export async function isIntact(
  store: ObjectStore,
  { key, sha256 }: Pick<ReferencedObject, 'key' | 'sha256'>,
): Promise<boolean> {
  const [opened, found] = [await store.get(key), await store.stat(key)];
  const expected = sha256 ?? found?.sha256;
  const hash = createHash('sha256');
  try {
    if (opened === null) return false;
    for await (const chunk of opened.stream) hash.update(chunk as Buffer);
  } catch (error) {
    // A bucket's stream compares the digest itself.
    if ((error as { code?: string }).code === 'internal') return false;
    throw error;
  }
  return expected === undefined || hash.digest('hex') === expected;
}
