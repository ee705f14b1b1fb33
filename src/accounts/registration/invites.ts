import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { EntityManager } from 'typeorm';
import { ageKey, readAgeKey, readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { conflict, forbidden, notFound, rateLimited } from '../../kernel/index.ts';
import { inviteSchema } from '../schema/invite-schema.ts';
import type { InviteRow } from '../schema/invite-schema.ts';
import { personById } from '../people/find-people.ts';
import { mailNotConfigured, parseNewAddress } from '../addresses/add-address.ts';
import { personIdOfAddress } from '../addresses/people-by-address.ts';
import type { AccountsDeps } from '../deps.ts';
import { inviteMail } from './invite-mail.ts';
import { hashSecret, looksLikeSecret, newSecret } from '../secret.ts';

/** An invitation link for one person, as the administrator sees it: without the secret. */
export interface Invite {
  id: string;
  /** Id of the administrator who created it; `null` for the command line. */
  createdBy: string | null;
  createdAt: number;
  expiresAt: number;
  /** Recipient, if it was or will be sent by mail. */
  address: string | null;
  /** Time of the last mail. */
  mailedAt: number | null;
  organisationId: string | null;
  organisationRole: string | null;
}

const toInvite = ({ tokenHash: _, mailedTokenHash: __, usedAt: ___, usedBy: ____, ...invite }: InviteRow): Invite =>
  invite;

export interface NewInvite {
  lifetimeMs?: number;
  /** Sent there if mail is configured; using the mailed link verifies the address. */
  address?: string | null;
  /** The organisation that the new user joins; the caller has checked whether `createdBy` may add members there. */
  joins?: { organisationId: string; role: string } | null;
}

/** Minimum time between two mails of one invitation, in milliseconds. */
const resendAfterMs = 60_000;

/**
 * Creates an invitation: valid for one person, by default for seven days.
 * @param createdBy id of the administrator; `null` for the command line
 * @returns `secret` for the link, shown once; the mailed link has another one, known only to the mailbox. Throws
 *   `not_administrator`, `unknown_person`; `invalid_address`, `reserved_address`; `address_in_use`.
 */
export async function addInvite(
  deps: AccountsDeps,
  createdBy: string | null,
  { lifetimeMs = deps.settings.inviteLifetimeMs, address = null, joins = null }: NewInvite = {},
): Promise<{ invite: Invite; secret: string }> {
  if (createdBy !== null) {
    const { isAdministrator, disabledAt } = await personById(deps, createdBy);
    if (!isAdministrator || disabledAt !== null)
      throw forbidden('not_administrator', 'Only an administrator can invite people.');
  }
  const parsed = address === null || address.trim() === '' ? null : parseNewAddress(deps, address);
  if (parsed !== null && (await personIdOfAddress(deps, parsed.key)) !== null) {
    throw conflict('address_in_use', 'An account with this address already exists.', { field: 'address' });
  }
  const secret = newSecret(deps.random);
  const invite = await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const row: InviteRow = {
      id: deps.random.uuid(),
      tokenHash: hashSecret(secret),
      createdBy,
      createdAt: now,
      expiresAt: now + lifetimeMs,
      usedAt: null,
      usedBy: null,
      address: parsed?.address ?? null,
      mailedTokenHash: null,
      mailedAt: null,
      organisationId: joins?.organisationId ?? null,
      organisationRole: joins?.role ?? null,
    };
    await manager.insert(inviteSchema, row);
    return parsed === null ? toInvite(row) : sendInvite(deps, tx, row);
  });
  deps.mail.wake();
  return { invite, secret };
}

/** Queues the mail; its link replaces that of an earlier mail. Does nothing without mail. */
async function sendInvite(deps: AccountsDeps, tx: Tx, row: InviteRow): Promise<Invite> {
  if (!deps.mail.isConfigured) return toInvite(row);
  const secret = newSecret(deps.random);
  const mailed = { mailedTokenHash: hashSecret(secret), mailedAt: tx.now };
  await tx.manager.update(inviteSchema, { id: row.id }, mailed);
  await deps.mail.enqueue(tx, { kind: inviteMail, data: { inviteId: row.id, secret } });
  return toInvite({ ...row, ...mailed });
}

/**
 * Sends an invitation again; the link of the earlier mail stops working. Throws `mail_not_configured`; `unknown_invite`
 * if it does not exist, is used or expired, or has no address; `too_many_mails`.
 */
export async function resendInvite(deps: AccountsDeps, inviteId: string): Promise<Invite> {
  if (!deps.mail.isConfigured) throw mailNotConfigured();
  const invite = await deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(inviteSchema, { id: inviteId, usedAt: IsNull() });
    if (row === null || row.address === null || tx.now >= row.expiresAt) throw unknownInvite();
    const waitMs = (row.mailedAt ?? 0) + resendAfterMs - tx.now;
    if (waitMs > 0) {
      const message = 'It was sent less than a minute ago. Try again soon.';
      throw rateLimited('too_many_mails', message, Math.ceil(waitMs / 1000));
    }
    return sendInvite(deps, tx, row);
  });
  deps.mail.wake();
  return invite;
}

/** Open invitations, newest first, in pages. */
export async function listInvites(
  { db, clock }: AccountsDeps,
  paging: KeysetPaging = { limit: 100 },
): Promise<KeysetPage<Invite>> {
  const query = db.read
    .createQueryBuilder(inviteSchema, 'i')
    .where('i.used_at IS NULL AND i.expires_at > :now', { now: clock.now() });
  return readKeysetPage<Invite>(paging, ageKey, async ({ key, isBackwards, limit }) => {
    if (key !== null) query.andWhere(`(i.created_at, i.id) ${isBackwards ? '>' : '<'} (:at, :id)`, readAgeKey(key));
    const direction = isBackwards ? 'ASC' : 'DESC';
    const rows = await query.orderBy('i.created_at', direction).addOrderBy('i.id', direction).limit(limit).getMany();
    return rows.map(toInvite);
  });
}

/** Revokes an invitation. Throws `not_found` if it does not exist or was used. */
export async function removeInvite({ db }: AccountsDeps, inviteId: string): Promise<void> {
  await db.write(async ({ manager }) => {
    const { affected } = await manager.delete(inviteSchema, { id: inviteId, usedAt: IsNull() });
    if (affected === 0) throw unknownInvite();
  });
}

/** Throws `sign_up_closed` (not_found) unless the secret belongs to an open invitation. */
export async function checkInvite({ db, clock }: AccountsDeps, secret: string): Promise<void> {
  if ((await findOpenInvite(db.read, secret, clock.now())) === null) throw signUpClosed();
}

/** The invitation of a secret, handed out or mailed, if it is neither expired nor used. */
export async function findOpenInvite(manager: EntityManager, secret: string, now: number): Promise<InviteRow | null> {
  if (!looksLikeSecret(secret)) return null;
  const hash = hashSecret(secret);
  const row =
    (await manager.findOneBy(inviteSchema, { tokenHash: hash, usedAt: IsNull() })) ??
    (await manager.findOneBy(inviteSchema, { mailedTokenHash: hash, usedAt: IsNull() }));
  return row === null || now >= row.expiresAt ? null : row;
}

function unknownInvite() {
  return notFound('unknown_invite', 'There is no such invite.');
}

/** Wrong, expired and used secrets look the same from outside: as if sign-up did not exist. */
export function signUpClosed() {
  return notFound('sign_up_closed', 'This invite no longer works. Request a new one.');
}
