import type { EntityManager } from 'typeorm';
import { conflict, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret } from '../secret.ts';
import { setupTokenSchema } from '../schema/setup-token-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { newSetupToken, normaliseSetupToken } from './setup-token-format.ts';

/** More than anybody needs at once; each start of the program prints another one. */
const maxTokensAtOnce = 20;

/**
 * Issues a token that makes the first administrator, once, within 24 hours.
 * Only its hash is kept, so "show it again" is a new one; those issued before
 * go on working, because somebody may be on their way with one.
 *
 * @param options.rotate ends all earlier ones: one of them may be in wrong hands
 * @returns for example `7Q2K-9XDM-…`
 * Refuses with `administrator_exists`.
 */
export async function setupToken(
  { db, random, settings }: AccountsDeps,
  { rotate = false }: { rotate?: boolean } = {},
): Promise<string> {
  const token = newSetupToken(random);
  await db.write(
    async ({ manager, now }) => {
      if (await manager.existsBy(userSchema, { isAdministrator: true })) {
        throw conflict('administrator_exists', 'Hearth is set up already: it has an administrator.');
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
      // A start waits for it, and prints another after a power failure. What was ended must stay so.
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

/** Whether there is a setup page for this token: refuses with `setup_closed` (not_found) when not. */
export async function checkSetupToken({ db, clock }: AccountsDeps, token: string): Promise<void> {
  if ((await findOpenToken(db.read, token, clock.now())) === null) throw setupClosed();
}

/**
 * The hash of a token that works now: known, not expired, not used, and no
 * administrator yet.
 */
export async function findOpenToken(manager: EntityManager, token: string, now: number): Promise<string | null> {
  const plain = normaliseSetupToken(token);
  if (plain === null) return null;
  const tokenHash = hashSecret(plain);
  const row = await manager.findOneBy(setupTokenSchema, { tokenHash });
  if (row === null || row.usedAt !== null || now >= row.expiresAt) return null;
  return (await manager.existsBy(userSchema, { isAdministrator: true })) ? null : tokenHash;
}

/** Wrong, expired and used look the same from outside: as if there were no setup. */
export function setupClosed() {
  return notFound('setup_closed', 'This setup link does not work any more. "hearth setup-url" prints a new one.');
}
