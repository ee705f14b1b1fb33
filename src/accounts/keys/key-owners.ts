import { isNotNull } from '../../db/index.ts';
import { In, IsNull } from 'typeorm';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import { userSchema } from '../schema/user-schema.ts';

/** Somebody's key, for whoever shows what was signed with it. */
export interface KeyOwner {
  fingerprint: string;
  username: string;
}

/**
 * Whose keys these are, sorted by fingerprint; a key that is nobody's, or that of somebody
 * without a handle or with a disabled account, is missing. Keys of people are public.
 * @param fingerprints `SHA256:…`, a few hundred at most
 */
export async function findKeyOwners({ db }: AccountsDeps, fingerprints: readonly string[]): Promise<KeyOwner[]> {
  if (fingerprints.length === 0) return [];
  const keys = await db.read.find(sshKeySchema, {
    where: { fingerprint: In([...new Set(fingerprints)]) },
    order: { fingerprint: 'ASC' },
  });
  if (keys.length === 0) return [];
  const people = await db.read.findBy(userSchema, {
    id: In([...new Set(keys.map(({ userId }) => userId))]),
    disabledAt: IsNull(),
    username: isNotNull(),
  });
  const names = new Map(people.map(({ id, username }) => [id, username]));
  return keys.flatMap(({ fingerprint, userId }) => {
    const username = names.get(userId);
    return username ? [{ fingerprint, username }] : [];
  });
}
