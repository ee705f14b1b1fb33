import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { notFound, rateLimited } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, looksLikeSecret, newSecret } from '../secret.ts';
import { oneTimeLinkSchema } from '../schema/one-time-link-schema.ts';
import type { OneTimeLinkRow, LinkPurpose } from '../schema/one-time-link-schema.ts';

const hourMs = 60 * 60_000;

interface NewLink {
  purpose: LinkPurpose;
  personId: string;
  /** The address that it is sent to, in the form for comparison; `null` for a link handed out by an administrator. */
  addressKey: string | null;
  lifetimeMs: number;
}

/** Creates a one-time link. Stores only its hash. @returns the secret for the link */
export async function insertOneTimeLink(
  { random }: Pick<AccountsDeps, 'random'>,
  { manager, now }: Tx,
  { purpose, personId, addressKey, lifetimeMs }: NewLink,
): Promise<string> {
  const secret = newSecret(random);
  await manager.insert(oneTimeLinkSchema, {
    tokenHash: hashSecret(secret),
    purpose,
    userId: personId,
    addressKey,
    createdAt: now,
    expiresAt: now + lifetimeMs,
    usedAt: null,
  });
  return secret;
}

/** The link of a secret, if it is of this kind, unused and not expired. */
export async function findUnusedLink(
  manager: EntityManager,
  purpose: LinkPurpose,
  secret: string,
  now: number,
): Promise<OneTimeLinkRow | null> {
  if (!looksLikeSecret(secret)) return null;
  const row = await manager.findOneBy(oneTimeLinkSchema, { tokenHash: hashSecret(secret) });
  return row === null || row.purpose !== purpose || row.usedAt !== null || now >= row.expiresAt ? null : row;
}

/** Whether one more mail this hour stays below the limits of this user and of this address. */
export async function mayMail(
  { settings }: Pick<AccountsDeps, 'settings'>,
  { manager, now }: Tx,
  { personId, addressKey }: { personId: string; addressKey: string },
): Promise<boolean> {
  const since = now - hourMs;
  const counted: { n: number }[] = await manager.query(
    `SELECT count(*) AS n FROM account_links WHERE user_id = ? AND created_at > ? AND address_key IS NOT NULL
     UNION ALL SELECT count(*) AS n FROM account_links WHERE address_key = ? AND created_at > ?`,
    [personId, since, addressKey, since],
  );
  const [ofPerson, ofAddress] = counted.map(({ n }) => Number(n)) as [number, number];
  return ofPerson < settings.linkMailsPerHour && ofAddress < settings.linkMailsPerAddressHour;
}

/** Throws `too_many_mails` (unavailable) if the hourly limit is reached. */
export async function refuseTooManyMails(
  deps: Pick<AccountsDeps, 'settings'>,
  tx: Tx,
  mail: { personId: string; addressKey: string },
): Promise<void> {
  if (await mayMail(deps, tx, mail)) return;
  throw rateLimited('too_many_mails', 'Too many emails were sent. Try again in an hour.', hourMs / 1000);
}

/** Wrong, truncated, expired, used and foreign links look the same from outside. */
export function linkClosed() {
  return notFound('link_closed', 'This link no longer works. It works once, for a limited time, and for one account.');
}

/** Ends a user's password reset links after a password change. */
export async function endResetLinks(manager: EntityManager, personId: string, now: number): Promise<void> {
  const open = "user_id = ? AND purpose = 'reset' AND used_at IS NULL";
  await manager.query(`UPDATE account_links SET used_at = ? WHERE ${open}`, [now, personId]);
}
