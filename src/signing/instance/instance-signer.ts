import { createPrivateKey, createPublicKey } from 'node:crypto';
import { IsNull } from 'typeorm';
import { fingerprint as fingerprintOf, sshString } from '../../openssh/index.ts';
import { decrypt, encrypt, reencrypt } from '../../sealing/index.ts';
import type { SigningDeps } from '../deps.ts';
import { instanceSigningKeySchema } from '../schema/instance-key-schema.ts';
import type { InstanceSigningKeyRow } from '../schema/instance-key-schema.ts';
import { signSsh } from './sign-ssh.ts';

/** The public half of a signing key of the server. Times in milliseconds since the epoch. */
export interface InstanceSigningKey {
  /** `SHA256:…` */
  fingerprint: string;
  /** A line of a `.pub` file without a comment. */
  publicKey: string;
  createdAt: number;
  /** When it was replaced; null for the key in use. */
  retiredAt: number | null;
}

const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');
const use = 'instance key';

const toKey = ({ fingerprint, blobBase64, createdAt, retiredAt }: InstanceSigningKeyRow): InstanceSigningKey => ({
  fingerprint,
  publicKey: `ssh-ed25519 ${blobBase64}`,
  createdAt,
  retiredAt,
});

/** All keys that the server has signed with, current one first. */
export async function instanceKeys({ db }: SigningDeps): Promise<InstanceSigningKey[]> {
  const rows = await db.read.find(instanceSigningKeySchema);
  return rows
    .map(toKey)
    .sort((a, b) => Number(a.retiredAt !== null) - Number(b.retiredAt !== null) || b.createdAt - a.createdAt);
}

/**
 * The current signing key of the server, created on first use. A key that cannot be decrypted, after restoring a backup
 * without private keys, is replaced; its signatures stay verified.
 */
export async function currentInstanceKey(deps: SigningDeps): Promise<InstanceSigningKey> {
  return toKey((await currentRow(deps)).row);
}

/** Replaces the key; signatures made by the old one until now stay verified. */
export async function rotateInstanceKey(deps: SigningDeps): Promise<InstanceSigningKey> {
  return toKey((await replaceKey(deps, null, true)).row);
}

/**
 * Signs the bytes of a commit or tag without its signature, as `git verify-commit` expects: an armored SSH signature in
 * the namespace `git`. Reads the key on every call, so that a rotation by the command line takes effect at once.
 */
export async function signCommit(deps: SigningDeps, payload: Buffer): Promise<string> {
  const { row, seed } = await currentRow(deps);
  return signSsh(seed, Buffer.from(row.blobBase64, 'base64'), 'git', payload);
}

interface OpenKey {
  row: InstanceSigningKeyRow;
  seed: Buffer;
}

async function currentRow(deps: SigningDeps): Promise<OpenKey> {
  const row = await deps.db.read.findOneBy(instanceSigningKeySchema, { retiredAt: IsNull() });
  const opened = row && open(deps, row);
  return opened ?? replaceKey(deps, row?.fingerprint ?? null, false);
}

function open({ instanceKey }: SigningDeps, row: InstanceSigningKeyRow): OpenKey | null {
  const seed =
    row.privateCiphertext === null
      ? null
      : decrypt(instanceKey.decrypting(use), row.fingerprint, row.privateCiphertext);
  return seed === null ? null : { row, seed: Buffer.from(seed, 'base64') };
}

/**
 * @param useless the current key, if it cannot sign; if another process has replaced it since, its key is used
 * @param always whether to replace even a working key
 */
async function replaceKey(deps: SigningDeps, useless: string | null, always: boolean): Promise<OpenKey> {
  const { db, instanceKey, logger, random } = deps;
  // Generated before the write, which must not wait for anything.
  const seed = random.bytes(32);
  const key = createPublicKey(
    createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' }),
  );
  const point = Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');
  const blob = Buffer.concat([sshString('ssh-ed25519'), sshString(point)]);
  const fingerprint = fingerprintOf(blob);
  const privateCiphertext = encrypt(instanceKey.for(use), random, fingerprint, seed.toString('base64'));
  const { made, replaced } = await db.write(async ({ manager, now }) => {
    const current = await manager.findOneBy(instanceSigningKeySchema, { retiredAt: IsNull() });
    if (current !== null && !always && current.fingerprint !== useless) {
      const opened = open(deps, current);
      if (opened !== null) return { made: opened, replaced: null };
    }
    if (current !== null) {
      await manager.update(
        instanceSigningKeySchema,
        { fingerprint: current.fingerprint },
        { retiredAt: now, privateCiphertext: null },
      );
    }
    const row = {
      fingerprint,
      blobBase64: blob.toString('base64'),
      privateCiphertext,
      createdAt: now,
      retiredAt: null,
    };
    await manager.insert(instanceSigningKeySchema, row);
    return { made: { row, seed }, replaced: current?.fingerprint ?? null };
  });
  if (made.row.fingerprint === fingerprint) {
    logger.info(replaced === null ? 'signing_key.made' : 'signing_key.rotated', {
      fingerprint,
      ...(replaced === null ? {} : { replaced }),
    });
  }
  return made;
}

/** Re-encrypts the keys after a rotation of the instance key. @returns the number of keys */
export function reencryptSigningKeys({ db, instanceKey, random }: SigningDeps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const { fingerprint, privateCiphertext: text } of await manager.find(instanceSigningKeySchema)) {
      const privateCiphertext =
        text === null ? null : reencrypt(instanceKey, random, { use, place: fingerprint, text });
      if (privateCiphertext === null) continue;
      await manager.update(instanceSigningKeySchema, { fingerprint }, { privateCiphertext });
      changed += 1;
    }
    return changed;
  });
}
