import type { SigningDeps } from '../deps.ts';
import { gpgKeySchema } from '../schema/gpg-key-schema.ts';
import { toGpgKey } from './gpg-key.ts';
import type { GpgKey } from './gpg-key.ts';

/**
 * The OpenPGP keys of a user, newest first.
 * @param personId `null` lists the keys of all users, for the command line
 */
export async function listGpgKeys({ db }: SigningDeps, personId: string | null): Promise<GpgKey[]> {
  const rows = await db.read.find(gpgKeySchema, {
    where: personId === null ? {} : { userId: personId },
    order: { createdAt: 'DESC', id: 'ASC' },
  });
  return rows.map(toGpgKey);
}

/** The armored OpenPGP keys of a user, oldest first. */
export async function armoredKeys({ db }: SigningDeps, personId: string): Promise<string[]> {
  const rows = await db.read.find(gpgKeySchema, {
    where: { userId: personId },
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return rows.map(({ armored }) => armored);
}

/** The addresses in keys that are verified addresses of the user. */
export async function ownAddresses(
  { accounts }: SigningDeps,
  personId: string,
  keys: readonly Pick<GpgKey, 'addresses'>[],
): Promise<Set<string>> {
  const named = [...new Set(keys.flatMap((key) => key.addresses))];
  if (named.length === 0) return new Set();
  const owners = await accounts.addresses.peopleByAddress(named);
  return new Set(named.filter((address) => owners.get(address)?.id === personId));
}
