import { conflict } from '../../kernel/index.ts';
import type { SigningDeps } from '../deps.ts';
import { gpgKeyPartSchema, gpgKeySchema } from '../schema/gpg-key-schema.ts';
import type { GpgKeyRow } from '../schema/gpg-key-schema.ts';
import { toGpgKey } from './gpg-key.ts';
import type { GpgKey } from './gpg-key.ts';
import { readKey } from './read-key.ts';

interface AddedGpgKey {
  key: GpgKey;
  /** False if the user already had the key, and this copy has replaced it. */
  isNew: boolean;
}

/**
 * Adds an OpenPGP public key with which a user signs commits. Adding it again replaces the stored copy: with a new
 * expiry, subkey or revocation. Several users may add the same key, so that nobody can prevent its owner from using it;
 * it verifies nothing for a user without a verified address among its user ids.
 *
 * Throws the errors of `readKey`, `too_many_gpg_keys`, `unknown_person`.
 */
export async function addGpgKey(deps: SigningDeps, personId: string, armored: unknown): Promise<AddedGpgKey> {
  const { accounts, db, logger, random, settings } = deps;
  const { signers, createdAt: keyCreatedAt, ...parsed } = await readKey(deps, personId, armored);
  await accounts.personById(personId);
  const added = await db.write(async (tx): Promise<AddedGpgKey> => {
    const { manager, now } = tx;
    const old = await manager.findOneBy(gpgKeySchema, { userId: personId, fingerprint: parsed.fingerprint });
    if (old === null && (await manager.countBy(gpgKeySchema, { userId: personId })) >= settings.maxKeysPerPerson) {
      throw conflict('too_many_gpg_keys', `You already have ${settings.maxKeysPerPerson} keys. Remove one first.`);
    }
    const row: GpgKeyRow = {
      ...parsed,
      id: old?.id ?? random.uuid(),
      userId: personId,
      subkeys: signers.filter(({ fingerprint }) => fingerprint !== parsed.fingerprint),
      keyCreatedAt,
      createdAt: old?.createdAt ?? now,
      updatedAt: now,
    };
    if (old === null) await manager.insert(gpgKeySchema, row);
    else {
      await manager.update(gpgKeySchema, { id: row.id }, row);
      await manager.delete(gpgKeyPartSchema, { gpgKeyId: row.id });
    }
    await manager.insert(
      gpgKeyPartSchema,
      signers.map((part) => ({ ...part, gpgKeyId: row.id })),
    );
    if (old === null) {
      const event = { kind: 'gpg_key_added' as const, fingerprint: row.fingerprint };
      await accounts.announceSecurityEvent(tx, personId, event);
    }
    return { key: toGpgKey(row), isNew: old === null };
  });
  logger.info(added.isNew ? 'key.added' : 'key.updated', {
    personId,
    keyId: added.key.id,
    fingerprint: added.key.fingerprint,
    uses: 'signing',
  });
  return added;
}
