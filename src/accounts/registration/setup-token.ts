import type { EntityManager } from 'typeorm';
import { conflict, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { setupTokenSchema } from '../schema/setup-token-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { newSetupToken, normaliseSetupToken } from './setup-token-format.ts';

/** More than anyone needs; each start of the program issues one. */
const maxTokensAtOnce = 20;

/**
 * Issues a one-time token for creating the first administrator, valid for 24 hours. Only its hash is stored, so "show
 * it again" issues a new one; earlier ones stay valid, because one may be in use.
 *
 * @param options.rotate revokes all earlier ones, in case one leaked
 * @returns for example `7Q2K-9XDM-…`. Throws `administrator_exists`.
 */
export async function setupToken(
  { db, random, settings }: AccountsDeps,
  { rotate = false }: { rotate?: boolean } = {},
): Promise<string> {
  const token = newSetupToken(random);
  await db.write(
    async ({ manager, now }) => {
      if (await manager.existsBy(userSchema, { isAdministrator: true })) {
        throw conflict('administrator_exists', 'Hearth is already set up and has an administrator.');
      }
      if (rotate) await manager.deleteAll(setupTokenSchema);
      else await removeSurplus(manager, now);
      const row = {
        tokenHash: hashSecret(token),
        createdAt: now,
        expiresAt: now + settings.setupTokenLifetimeMs,
        usedAt: null,
      };
      await manager.insert(setupTokenSchema, row);
      // Without an fsync, because a start waits for this transaction and issues another token after a power failure.
      // Revocations must be durable.
    },
    rotate ? {} : { durable: 'with-the-next' },
  );
  return token;
}

async function removeSurplus(manager: EntityManager, now: number): Promise<void> {
  await manager.query(
    `DELETE FROM setup_tokens WHERE expires_at <= ?
     OR token_hash NOT IN (SELECT token_hash FROM setup_tokens ORDER BY created_at DESC LIMIT ?)`,
    [now, maxTokensAtOnce - 1],
  );
}

/** Throws `setup_closed` (not_found) unless this token is valid. */
export async function checkSetupToken({ db, clock }: AccountsDeps, token: string): Promise<void> {
  if ((await findOpenToken(db.read, token, clock.now())) === null) throw setupClosed();
}

/** The hash of a known, unexpired and unused token, while there is no administrator. */
export async function findOpenToken(manager: EntityManager, token: string, now: number): Promise<string | null> {
  const plain = normaliseSetupToken(token);
  if (plain === null) return null;
  const tokenHash = hashSecret(plain);
  const row = await manager.findOneBy(setupTokenSchema, { tokenHash });
  if (row === null || row.usedAt !== null || now >= row.expiresAt) return null;
  return (await manager.existsBy(userSchema, { isAdministrator: true })) ? null : tokenHash;
}

/** Wrong, expired and used tokens look the same from outside: as if setup did not exist. */
export function setupClosed() {
  return notFound('setup_closed', 'This setup link does not work any more. "hearth setup-url" prints a new one.');
}
