import { createHash } from 'node:crypto';
import { In } from 'typeorm';
import type { SigningDeps } from '../deps.ts';
import { verifyLimits } from '../limits.ts';
import { gpgKeySchema } from '../schema/gpg-key-schema.ts';
import type { Signers } from './find-signers.ts';
import { verifyByFacts, verifyOpenPgp, keyFor } from './decide-verification.ts';
import type { ReadSignature } from './read-signatures.ts';
import type { Verification } from './verification.ts';
import type { OpenPgpResult, run } from './verify-task.ts';

/**
 * Verifies signatures with the result of `findSigners`. The signatures of one OpenPGP key are one task of the worker
 * pool, which caches its result, because that depends only on the bytes. Signatures by unregistered keys start no task.
 * @param client client in the fair queue of the pool
 */
export async function verifySignatures(
  deps: SigningDeps,
  reads: readonly (ReadSignature | null)[],
  signers: Signers,
  client: string,
): Promise<(Verification | null)[]> {
  const verdicts = reads.map((read) => read && verifyByFacts(read, signers));
  const open = new Map<string, number[]>();
  reads.forEach((read, index) => {
    const key = read !== null && verdicts[index] === null ? keyFor(read, signers) : null;
    if (key !== null) open.set(key.id, [...(open.get(key.id) ?? []), index]);
  });
  if (open.size === 0) return verdicts;
  const rows = await deps.db.read.find(gpgKeySchema, {
    select: { id: true, armored: true },
    where: { id: In([...open.keys()]) },
  });
  const armours = new Map(rows.map(({ id, armored }) => [id, armored]));
  const now = deps.clock.now();
  await Promise.all(
    [...open].map(async ([keyId, indexes]) => {
      const some = indexes.map((index) => reads[index]!);
      const results = await verifyByKey(deps, armours.get(keyId) ?? null, some, client);
      indexes.forEach((index, at) => {
        const read = reads[index]!;
        verdicts[index] = verifyOpenPgp(read, signers, keyFor(read, signers)!, results?.[at] ?? null, now);
      });
    }),
  );
  return verdicts;
}

/** Null if no worker was free in time, or the key was removed. */
async function verifyByKey(
  { workers }: SigningDeps,
  armored: string | null,
  reads: readonly ReadSignature[],
  client: string,
): Promise<OpenPgpResult[] | null> {
  if (armored === null) return null;
  const hash = createHash('sha256').update(`${armored.length} `).update(armored);
  for (const { signature } of reads)
    hash
      .update(` ${signature.text.length} ${signature.signed.length} `)
      .update(signature.text)
      .update(signature.signed);
  const outcome = await workers.run<typeof run>({
    task: 'openpgp-signatures',
    key: hash.digest('base64'),
    input: () => ({ armored, items: reads.map(({ signature: { text, signed } }) => ({ text, signed })) }),
    client,
    limits: verifyLimits,
  });
  return outcome.ok ? outcome.value : null;
}
