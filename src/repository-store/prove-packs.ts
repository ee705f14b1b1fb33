import { rows } from '../db/index.ts';
import type { StoreDeps } from './deps.ts';
import type { StoredPack } from './schema.ts';
import { readChecked } from './transfer-packs.ts';

/** Result of reading packs from the store. */
interface PackProof {
  packs: number;
  bytes: number;
  /** Problems, as sentences. */
  faults: string[];
}

interface ProveOptions {
  /** Whether to read a pack. */
  isDue(pack: StoredPack): boolean;
  /** Called after a failure: whether the pack is still in use. */
  isWanted(pack: StoredPack): Promise<boolean>;
  shouldContinue?(): Promise<boolean>;
}

const atOnce = 200;
const maxFaults = 20;

/**
 * Reads the packs in the rows, and their indexes, from the store, and compares them with their digests; stores nothing
 * on disk. Reads a pack shared by several repositories once. Throws `object_store_unavailable`.
 */
export async function provePacks(
  { db, objects }: Pick<StoreDeps, 'db' | 'objects'>,
  { isDue, isWanted, shouldContinue = async () => true }: ProveOptions,
): Promise<PackProof> {
  const proof: PackProof = { packs: 0, bytes: 0, faults: [] };
  const read = new Set<string>();

  async function prove(pack: StoredPack): Promise<void> {
    for (const [ending, bytes, sha256] of [
      ['pack', Number(pack.packBytes), pack.packSha256],
      ['idx', Number(pack.indexBytes), pack.indexSha256],
    ] as const) {
      const fault = await readChecked(objects, `${pack.key}.${ending}`, { bytes, sha256 });
      proof.bytes += bytes;
      if (fault === null || !(await isWanted(pack))) continue;
      proof.faults.push(`${pack.key}.${ending} of ${pack.repository} is ${fault}`);
    }
    proof.packs += 1;
  }

  let last = { repository: '', key: '' };
  for (;;) {
    const page = await rows<StoredPack>(
      db.read,
      `SELECT repository, key, name, pack_sha256 AS "packSha256", index_sha256 AS "indexSha256",
          pack_bytes AS "packBytes", index_bytes AS "indexBytes", created_at AS "createdAt",
          replaced_at AS "replacedAt"
        FROM git_packs WHERE (repository, key) > (?, ?) ORDER BY repository, key LIMIT ${atOnce}`,
      [last.repository, last.key],
    );
    for (const pack of page) {
      if (pack.replacedAt !== null || read.has(pack.key) || !isDue(pack)) continue;
      if (proof.faults.length >= maxFaults || !(await shouldContinue())) return proof;
      read.add(pack.key);
      await prove(pack);
    }
    if (page.length < atOnce) return proof;
    last = page.at(-1)!;
  }
}
