import { createHash } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { digestFile } from '../files/index.ts';
import { isDomainError, unavailable } from '../kernel/index.ts';
import type { StoredObject } from '../objects/index.ts';
import type { StoreDeps } from './deps.ts';
import type { StoredPack } from './schema.ts';

type Deps = Pick<StoreDeps, 'objects' | 'random' | 'clock'>;

/** Data of an uploaded pack for its row. */
export type UploadedPack = Pick<
  StoredPack,
  'key' | 'name' | 'packSha256' | 'indexSha256' | 'packBytes' | 'indexBytes' | 'createdAt'
>;

const lost = (key: string) =>
  unavailable('object_store_unavailable', 'The store did not keep the uploaded data. Nothing was changed.', {
    retryAfterSeconds: 30,
    cause: new Error(`${key} is not in the store as it was sent`),
  });

/**
 * Uploads a pack and its index under a new key, and verifies both: rejects a store that responds 200 without content.
 * Keeps the files. Throws `object_store_unavailable`.
 * @param folder of `pack-<name>.pack` and its index
 */
export async function uploadPack(deps: Deps, repository: string, folder: string, name: string): Promise<UploadedPack> {
  const key = `packs/${repository}/${deps.random.uuid()}`;
  const createdAt = deps.clock.now();
  const send = async (ending: string): Promise<StoredObject> => {
    const file = path.join(folder, `pack-${name}.${ending}`);
    const content = await digestFile(file);
    const sent = path.join(folder, `sent-${deps.random.uuid()}.${ending}`);
    await link(file, sent);
    try {
      await deps.objects.adopt(`${key}.${ending}`, sent, content);
    } finally {
      await rm(sent, { force: true });
    }
    const kept = await deps.objects.stat(`${key}.${ending}`);
    if (kept?.bytes !== content.bytes || (kept.sha256 ?? content.sha256) !== content.sha256)
      throw lost(`${key}.${ending}`);
    return content;
  };
  const [pack, index] = await Promise.all([send('pack'), send('idx')]);
  return {
    key,
    name,
    packSha256: pack.sha256,
    packBytes: pack.bytes,
    indexSha256: index.sha256,
    indexBytes: index.bytes,
    createdAt,
  };
}

/** Why a pack could not be fetched. */
type PackFault = 'absent' | 'damaged';

/**
 * Reads an object to its end and compares it with its row; `write` gets its bytes. Stops after `expected.bytes`.
 * Throws `object_store_unavailable`.
 */
export async function readChecked(
  objects: StoreDeps['objects'],
  key: string,
  expected: Pick<StoredObject, 'bytes' | 'sha256'>,
  write?: (chunk: Buffer) => Promise<void>,
): Promise<PackFault | null> {
  const opened = await objects.get(key);
  if (opened === null) return 'absent';
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of opened.stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > expected.bytes) return 'damaged';
      hash.update(chunk);
      await write?.(chunk);
    }
  } catch (error) {
    // The store has compared digests itself.
    if (isDomainError(error) && error.code === 'internal') return 'damaged';
    throw error;
  } finally {
    opened.stream.destroy();
  }
  return bytes === expected.bytes && hash.digest('hex') === expected.sha256 ? null : 'damaged';
}

/**
 * Fetches a pack and its index into a pack folder and checks their digests; writes the index last, because it makes the
 * pack readable. Throws `object_store_unavailable`.
 * @returns null, or the reason of a failure
 */
export async function downloadPack(
  { objects, random }: Pick<StoreDeps, 'objects' | 'random'>,
  pack: StoredPack,
  folder: string,
): Promise<PackFault | null> {
  const download = async (ending: string, expected: StoredObject): Promise<PackFault | string> => {
    const fresh = path.join(folder, `tmp_${random.uuid()}.${ending}`);
    const handle = await open(fresh, 'wx', 0o400);
    let isWhole = false;
    try {
      const fault = await readChecked(objects, `${pack.key}.${ending}`, expected, (chunk) => handle.writeFile(chunk));
      isWhole = fault === null;
      return fault ?? fresh;
    } finally {
      await handle.close();
      if (!isWhole) await rm(fresh, { force: true });
    }
  };
  const files = await Promise.all([
    download('pack', { bytes: pack.packBytes, sha256: pack.packSha256 }),
    download('idx', { bytes: pack.indexBytes, sha256: pack.indexSha256 }),
  ]);
  const fault = files.find((file) => file === 'absent' || file === 'damaged') as PackFault | undefined;
  if (fault !== undefined) {
    for (const file of files) if (path.isAbsolute(file)) await rm(file, { force: true });
    return fault;
  }
  await rename(files[0], path.join(folder, `pack-${pack.name}.pack`));
  await rename(files[1], path.join(folder, `pack-${pack.name}.idx`));
  return null;
}
