import { createHash } from 'node:crypto';
import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope, scopeOf, toColumns } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { registrationTokenSchema } from '../schema/runner-schema.ts';

type Deps = Pick<CiDeps, 'db' | 'random'>;

/** 40 random hex digits cannot be guessed, so the hash needs no salt. */
const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Lifetime of a single-use token in milliseconds: one day. */
const singleUseTtlMs = 86_400_000;

/**
 * Creates the registration token of a scope and revokes the previous one. It can be used any number of times and is
 * shown only once.
 * @param madeBy UUID of the user; null for the command line
 */
export function resetRegistrationToken(deps: Deps, scope: CiScope, madeBy: string | null): Promise<string> {
  return makeToken(deps, scope, madeBy, false);
}

/** Creates a token that registers one runner within a day. The token of the scope stays valid. */
export function makeSingleUseToken(deps: Deps, scope: CiScope, madeBy: string | null): Promise<string> {
  return makeToken(deps, scope, madeBy, true);
}

async function makeToken(
  { db, random }: Deps,
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

/** Creation time of the current token of a scope; null if there is none. */
export async function registrationTokenMadeAt({ db }: Deps, scope: CiScope): Promise<number | null> {
  const row = await db.read.findOneBy(registrationTokenSchema, presentOf(scope));
  return row?.createdAt ?? null;
}

const presentOf = (scope: CiScope) => ({ ...inScope(scope), replacedAt: IsNull(), singleUse: false });

/**
 * Returns the scope of a registration token, inside the write that creates the runner. Consumes a single-use token.
 * Throws `unknown_registration_token`, `replaced_registration_token`.
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
