import type { AccountsDeps } from '../deps.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import { identitySchema } from '../schema/identity-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { toIdentity } from './identity.ts';
import type { Identity, VerifiedIdentity } from './identity.ts';

/** The user who signs in with this provider account; `null` if it is unknown. */
export async function personOfIdentity(
  { db }: AccountsDeps,
  { issuer, subject }: Pick<VerifiedIdentity, 'issuer' | 'subject'>,
): Promise<Person | null> {
  const identity = await db.read.findOneBy(identitySchema, { issuer, subject });
  const row = identity && (await db.read.findOneBy(userSchema, { id: identity.userId }));
  return row === null ? null : toPerson(row);
}

/** A user's provider accounts, oldest link first. */
export async function listIdentities({ db }: AccountsDeps, personId: string): Promise<Identity[]> {
  const rows = await db.read.find(identitySchema, { where: { userId: personId }, order: { createdAt: 'ASC' } });
  return rows.map(toIdentity);
}
