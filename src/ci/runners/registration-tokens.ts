import { createHash } from 'node:crypto';
import { IsNull } from 'typeorm';
import { invalid } from '../../kernel/index.ts';
import type { CiRoom } from '../room.ts';
import { inScope, scopeOf, toColumns } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { registrationTokenSchema } from './runner-schema.ts';

type Room = Pick<CiRoom, 'db' | 'random'>;

/** 40 hex digits of randomness need no salt against guessing; nobody can try them out. */
const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Makes the registration token of a scope; the one before stops working. It may be
 * used any number of times and is shown only this once.
 * @param madeBy UUID of the person; null for the command line
 */
export async function resetRegistrationToken({ db, random }: Room, scope: CiScope, madeBy: string | null): Promise<string> {
  const token = random.bytes(20).toString('hex');
  await db.write(async ({ manager, now }) => {
    await manager.update(registrationTokenSchema, { ...inScope(scope), replacedAt: IsNull() }, { replacedAt: now });
    await manager.insert(registrationTokenSchema, {
      id: random.uuid(),
      ...toColumns(scope),
      tokenHash: hashToken(token),
      createdBy: madeBy,
      createdAt: now,
      replacedAt: null,
    });
  });
  return token;
}

/** When the present token of a scope was made; null when there is none. */
export async function registrationTokenMadeAt({ db }: Room, scope: CiScope): Promise<number | null> {
  const row = await db.read.findOneBy(registrationTokenSchema, { ...inScope(scope), replacedAt: IsNull() });
  return row?.createdAt ?? null;
}

/** The scope that a token registers for. Refuses `unknown_registration_token`, `replaced_registration_token`. */
export async function scopeOfRegistrationToken({ db }: Pick<Room, 'db'>, token: string): Promise<CiScope> {
  const row = await db.read.findOneBy(registrationTokenSchema, { tokenHash: hashToken(token) });
  if (row === null) throw invalid('unknown_registration_token', 'runner registration token not found');
  if (row.replacedAt !== null) {
    throw invalid('replaced_registration_token', 'runner registration token has been invalidated, please use the latest one');
  }
  return scopeOf(row);
}
