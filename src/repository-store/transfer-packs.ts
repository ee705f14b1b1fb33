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
  unavailable('object_store_unavailable', 'The store did not keep the data. Nothing was changed.', {
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
    const opened = await objects.get(`${pack.key}.${ending}`);
    if (opened === null) return 'absent';
    const fresh = path.join(folder, `tmp_${random.uuid()}.${ending}`);
    const hash = createHash('sha256');
    const handle = await open(fresh, 'wx', 0o400);
    let bytes = 0;
    try {
      for await (const chunk of opened.stream as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > expected.bytes) break;
        hash.update(chunk);
        await handle.writeFile(chunk);
      }
    } catch (error) {
      await rm(fresh, { force: true });
      // The store has compared digests itself.
      if (isDomainError(error) && error.code === 'internal') return 'damaged';
      throw error;
    } finally {
      opened.stream.destroy();
      await handle.close();
    }
    if (bytes === expected.bytes && hash.digest('hex') === expected.sha256) return fresh;
    await rm(fresh, { force: true });
    return 'damaged';
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
