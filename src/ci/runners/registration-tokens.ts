import { createHash } from 'node:crypto';
import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope, scopeOf, toColumns } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { registrationTokenSchema } from '../schema/runner-schema.ts';

type Room = Pick<CiDeps, 'db' | 'random'>;

/** 40 hex digits of randomness need no salt against guessing; nobody can try them out. */
const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** A token for one runner is used soon or forgotten. */
const singleUseTtlMs = 86_400_000;

/**
 * Makes the registration token of a scope; the one before stops working. It may be
 * used any number of times and is shown only this once.
 * @param madeBy UUID of the person; null for the command line
 */
export function resetRegistrationToken(deps: Room, scope: CiScope, madeBy: string | null): Promise<string> {
  return makeToken(deps, scope, madeBy, false);
}

/** Makes a token that registers one runner, within a day. The token of the scope goes on working beside it. */
export function makeSingleUseToken(deps: Room, scope: CiScope, madeBy: string | null): Promise<string> {
  return makeToken(deps, scope, madeBy, true);
}

async function makeToken(
  { db, random }: Room,
  scope: CiScope,
  madeBy: string | null,
  singleUse: boolean,
): Promise<string> {
  const token = random.bytes(20).toString('hex');
  await db.write(async ({ manager, now }) => {
    if (!singleUse) await manager.update(registrationTokenSchema, presentOf(scope), { replacedAt: now });
    await manager.insert(registrationTokenSchema, {
      id: random.uuid(),
      ...toColumns(scope),
      tokenHash: hashToken(token),
      createdBy: madeBy,
      createdAt: now,
      replacedAt: null,
      singleUse,
    });
  });
  return token;
}

/** When the present token of a scope was made; null when there is none. */
export async function registrationTokenMadeAt({ db }: Room, scope: CiScope): Promise<number | null> {
  const row = await db.read.findOneBy(registrationTokenSchema, presentOf(scope));
  return row?.createdAt ?? null;
}

const presentOf = (scope: CiScope) => ({ ...inScope(scope), replacedAt: IsNull(), singleUse: false });

/**
 * The scope that a token registers for, inside the write that makes the runner: a token for one runner is used
 * up with it. Refuses `unknown_registration_token`, `replaced_registration_token`.
 */
export async function useRegistrationToken({ manager, now }: Tx, token: string): Promise<CiScope> {
  const row = await manager.findOneBy(registrationTokenSchema, { tokenHash: hashToken(token) });
  if (row === null) throw invalid('unknown_registration_token', 'runner registration token not found');
  if (row.replacedAt !== null || (row.singleUse && now - row.createdAt > singleUseTtlMs)) {
    throw invalid(
      'replaced_registration_token',
      'runner registration token has been invalidated, please use the latest one',
    );
  }
  if (row.singleUse) await manager.update(registrationTokenSchema, { id: row.id }, { replacedAt: now });
  return scopeOf(row);
}
