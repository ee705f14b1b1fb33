import { buffer } from 'node:stream/consumers';
import type { ImageStore } from '../../images/index.ts';
import { internal } from '../../kernel/index.ts';
import { listReferencedObjects } from '../../objects/index.ts';
import type { QueryRows, ReferencedObject, ObjectKind, ObjectStore } from '../../objects/index.ts';

export interface CopiedKind {
  kind: string;
  copied: number;
  bytes: number;
  /** Already present, with the same size and digest. */
  present: number;
  /** Removed from the source. */
  removed: number;
  /** Keys of objects that are in neither store, or whose bytes differ from their row. */
  problems: string[];
}

interface CopyOptions {
  from: ObjectStore;
  to: ObjectStore;
  ask: QueryRows;
  /** Whether to remove each object from the source once it is in the other store. */
  remove: boolean;
  onObject?: (key: string) => void;
}

/**
 * Copies the objects that rows of a kind reference, one after the other; skips existing ones, so that an interrupted
 * copy can continue. The content is compared with the digest in its row while it is read, and by the receiving store.
 * Throws `object_store_unavailable`; copied objects stay.
 */
export async function copyObjects(kind: ObjectKind, options: CopyOptions): Promise<CopiedKind> {
  const { from, to, ask, remove, onObject = () => {} } = options;
  const result: CopiedKind = { kind: kind.name, copied: 0, bytes: 0, present: 0, removed: 0, problems: [] };
  for await (const one of listReferencedObjects(kind, ask)) {
    onObject(one.key);
    const state = await copyOne(one, from, to);
    if (state.kind === 'copied') {
      result.copied += 1;
      result.bytes += state.bytes;
    } else if (state.kind === 'present') result.present += 1;
    else result.problems.push(`${one.key} ${state.kind}`);
    if (remove && (state.kind === 'copied' || (state.kind === 'present' && (await from.stat(one.key)) !== null))) {
      await from.remove(one.key);
      result.removed += 1;
    }
  }
  return result;
}

type Copied = { kind: 'copied'; bytes: number } | { kind: 'present' | 'is in neither store' | 'has different bytes' };

async function copyOne({ key, bytes, sha256 }: ReferencedObject, from: ObjectStore, to: ObjectStore): Promise<Copied> {
  const there = await to.stat(key);
  if (there !== null) {
    const isSame = (bytes ?? there.bytes) === there.bytes && (sha256 ?? there.sha256) === (there.sha256 ?? sha256);
    return { kind: isSame ? 'present' : 'has different bytes' };
  }
  const opened = await from.get(key);
  if (opened === null) return { kind: 'is in neither store' };
  const known = sha256 ?? (await from.stat(key))?.sha256;
  const expected = { bytes: bytes ?? opened.bytes, ...(known === undefined ? {} : { sha256: known }) };
  try {
    const tooLarge = () => internal('it is larger than its row says');
    const stored = await to.put(key, opened.stream, { maxBytes: expected.bytes, tooLarge, expected });
    return { kind: 'copied', bytes: stored.bytes };
  } catch (error) {
    opened.stream.destroy();
    if ((error as { code?: string }).code === 'invalid' || (error as { code?: string }).code === 'internal')
      return { kind: 'has different bytes' };
    throw error;
  }
}

/** The same for images, whose names differ between a folder and a bucket. */
export async function copyImages(
  kind: ObjectKind,
  {
    from,
    to,
    ask,
    remove,
    onObject = () => {},
  }: Omit<CopyOptions, 'from' | 'to'> & { from: ImageStore; to: ImageStore },
): Promise<CopiedKind> {
  const result: CopiedKind = { kind: kind.name, copied: 0, bytes: 0, present: 0, removed: 0, problems: [] };
  const there = new Map((await to.list()).map(({ id, stamp }) => [id, stamp]));
  for await (const { key } of listReferencedObjects(kind, ask)) {
    onObject(key);
    const [id = '', stamp = ''] = key.slice(kind.prefix.length).split('/');
    if (there.get(id) === Number(stamp)) result.present += 1;
    else {
      const image = await from.open(id);
      if (image === null) {
        result.problems.push(`${key} is in neither store`);
        continue;
      }
      const bytes = await buffer(image.stream());
      await to.put(id, bytes, image.stamp);
      result.copied += 1;
      result.bytes += bytes.length;
    }
    if (remove) {
      await from.remove(id, async () => {});
      result.removed += 1;
    }
  }
  return result;
}
