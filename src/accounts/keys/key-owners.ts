import { isNotNull } from '../../db/index.ts';
import { In, IsNull } from 'typeorm';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import type { SshKeyUse } from '../schema/ssh-key-schema.ts';
import { userSchema } from '../schema/user-schema.ts';

/** An owner of a key, for pages that show signatures. */
export interface KeyOwner {
  fingerprint: string;
  personId: string;
  username: string;
  uses: SshKeyUse;
}

/** Limit over all requested keys, so that registering other people's keys for signing cannot flood a page. */
const maxOwners = 2_000;

/**
 * The owners of keys, sorted by fingerprint, then by registration; omits keys without an owner, or whose owner has no
 * handle or is disabled. User keys are public.
 * @param fingerprints `SHA256:…`, a few hundred at most
 */
export async function findKeyOwners({ db }: AccountsDeps, fingerprints: readonly string[]): Promise<KeyOwner[]> {
  if (fingerprints.length === 0) return [];
  const keys = await db.read.find(sshKeySchema, {
    where: { fingerprint: In([...new Set(fingerprints)]) },
    order: { fingerprint: 'ASC', userId: 'ASC' },
    take: maxOwners,
  });
  if (keys.length === 0) return [];
  const people = await db.read.findBy(userSchema, {
    id: In([...new Set(keys.map(({ userId }) => userId))]),
    disabledAt: IsNull(),
    username: isNotNull(),
  });
  const names = new Map(people.map(({ id, username }) => [id, username]));
  const byAge = keys.sort(
    (a, b) => (a.fingerprint < b.fingerprint ? -1 : Number(a.fingerprint > b.fingerprint)) || a.createdAt - b.createdAt,
  );
  return byAge.flatMap(({ fingerprint, userId, uses }) => {
    const username = names.get(userId);
    return username ? [{ fingerprint, personId: userId, username, uses }] : [];
  });
}
