import { conflict, invalid } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { totpSecretSchema } from '../schema/second-factor-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { recordFactorAdded, recordFactorRemoved } from './record-factor-change.ts';
import { matchingStep, parseTotpCode, stepOf, totpSecretBytes } from './totp.ts';
import { decryptTotpSecret, encryptTotpSecret } from './totp-secret.ts';

/** Time after which an unconfirmed secret is replaced. */
const unconfirmedMs = 60 * 60_000;

/** Clock difference, in steps, up to which a code is recognised as one of another time. */
const explainedSteps = 20;

/**
 * The secret for a user's authenticator app. It affects sign-ins only after `enableTotp`; until then repeated calls
 * return the same secret, so that the page can be reloaded. Throws `totp_enabled`, `unknown_person`.
 */
export async function beginTotp(deps: AccountsDeps, personId: string): Promise<Buffer> {
  return deps.db.write(async ({ manager, now }) => {
    if (!(await manager.existsBy(userSchema, { id: personId }))) throw noSuchPerson();
    const row = await manager.findOneBy(totpSecretSchema, { userId: personId });
    if (row !== null) {
      if (row.enabledAt !== null) throw totpEnabled();
      const known = now - row.createdAt < unconfirmedMs ? decryptTotpSecret(deps, row) : null;
      if (known !== null) return known;
      await manager.delete(totpSecretSchema, { userId: personId });
    }
    const secret = deps.random.bytes(totpSecretBytes);
    const ciphertext = encryptTotpSecret(deps, personId, secret);
    await manager.insert(totpSecretSchema, {
      userId: personId,
      ciphertext,
      lastStep: -1,
      createdAt: now,
      enabledAt: null,
    });
    return secret;
  });
}

/**
 * Requires app codes at each sign-in from now on, once a first code has confirmed that the app has the secret.
 * @returns recovery codes to show once, if this is the user's first factor; otherwise null
 *
 * Throws `wrong_code` with field `code`; `totp_not_begun`, `totp_enabled` (conflict).
 */
export async function enableTotp(deps: AccountsDeps, personId: string, typed: string): Promise<string[] | null> {
  return deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const row = await manager.findOneBy(totpSecretSchema, { userId: personId });
    if (row !== null && row.enabledAt !== null) throw totpEnabled();
    const secret = row && decryptTotpSecret(deps, row);
    if (row === null || secret === null)
      throw conflict('totp_not_begun', 'This set-up has expired. Scan the new code below.');
    const code = parseTotpCode(typed);
    if (code === null) throw wrongForm();
    const step = matchingStep(secret, code, { now, lastStep: row.lastStep });
    if (step === null) throw wrongFirstCode(secret, code, now);
    await manager.update(totpSecretSchema, { userId: personId }, { enabledAt: now, lastStep: step });
    await announceSecurityEvent(deps, tx, personId, { kind: 'second_factor_added', factor: 'totp', name: '' });
    return recordFactorAdded(deps, tx, personId);
  });
}

/** Removes the app; its codes are no longer required. Throws `totp_not_enabled` (conflict). */
export async function disableTotp(deps: AccountsDeps, personId: string): Promise<void> {
  await deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(totpSecretSchema, { userId: personId });
    if (row === null || row.enabledAt === null)
      throw conflict('totp_not_enabled', 'This account does not have an authenticator app.');
    await tx.manager.delete(totpSecretSchema, { userId: personId });
    await recordFactorRemoved(tx, personId);
    await announceSecurityEvent(deps, tx, personId, { kind: 'second_factor_removed', factor: 'totp', by: 'person' });
  });
}

const totpEnabled = () => conflict('totp_enabled', 'An authenticator app is already set up. Remove it first.');

const wrongForm = () => invalid('wrong_code', 'Enter the six-digit code from the app.', { field: 'code' });

/**
 * The usual reason is a wrong clock. The page shows the secret, so naming the reason reveals nothing; at a sign-in it
 * would.
 */
function wrongFirstCode(secret: Buffer, code: string, now: number) {
  const other = matchingStep(secret, code, { now, lastStep: -1, window: explainedSteps });
  const minutes = other === null ? 0 : Math.round(Math.abs(other - stepOf(now)) / 2);
  return invalid(
    'wrong_code',
    other === null
      ? 'This code is wrong. Enter the current code from the app.'
      : `This code is off by ${minutes <= 1 ? 'about a minute' : `about ${minutes} minutes`}. Check the clock of the device with the app. If it is correct, ask an administrator to check the server clock.`,
    { field: 'code' },
  );
}
