import { IsNull } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ageKey, readAgeKey, readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { forbidden, notFound } from '../../kernel/index.ts';
import { inviteSchema } from '../schema/invite-schema.ts';
import type { InviteRow } from '../schema/invite-schema.ts';
import { personById } from '../people/find-people.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, looksLikeSecret, newSecret } from '../secret.ts';

/** An invitation link for one person, as the administrator sees it: without the secret. */
export interface Invite {
  id: string;
  /** Id of the administrator who made it; `null` when it was made on the command line. */
  createdBy: string | null;
  createdAt: number;
  expiresAt: number;
}

const toInvite = ({ id, createdBy, createdAt, expiresAt }: InviteRow): Invite => ({
  id,
  createdBy,
  createdAt,
  expiresAt,
});

/**
 * Makes an invitation: valid for one person, by default for seven days.
 * @param createdBy id of the administrator; `null` on the command line
 * @returns `secret` for the link, shown once Refuses: `not_administrator`, `unknown_person`.
 */
export async function addInvite(
  deps: AccountsDeps,
  createdBy: string | null,
  { lifetimeMs = deps.settings.inviteLifetimeMs }: { lifetimeMs?: number } = {},
): Promise<{ invite: Invite; secret: string }> {
  if (createdBy !== null) {
    const { isAdministrator, disabledAt } = await personById(deps, createdBy);
    if (!isAdministrator || disabledAt !== null)
      throw forbidden('not_administrator', 'Only an administrator can invite people.');
  }
  const secret = newSecret(deps.random);
  const invite = await deps.db.write(async ({ manager, now }) => {
    const row: InviteRow = {
      id: deps.random.uuid(),
      tokenHash: hashSecret(secret),
      createdBy,
      createdAt: now,
      expiresAt: now + lifetimeMs,
      usedAt: null,
      usedBy: null,
      address: null,
      mailedTokenHash: null,
      mailedAt: null,
      organisationId: null,
      organisationRole: null,
    };
    await manager.insert(inviteSchema, row);
    return toInvite(row);
  });
  return { invite, secret };
}

/** Open invitations, newest first, a page at a time. */
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

/** Revokes an invitation. Refuses with `not_found` when there is none or it was used. */
export async function removeInvite({ db }: AccountsDeps, inviteId: string): Promise<void> {
  await db.write(async ({ manager }) => {
    const { affected } = await manager.delete(inviteSchema, { id: inviteId, usedAt: IsNull() });
    if (affected === 0) throw notFound('unknown_invite', 'There is no such invite.');
  });
}

/** Refuses with `sign_up_closed` (not_found) unless the secret belongs to an open invitation. */
export async function checkInvite({ db, clock }: AccountsDeps, secret: string): Promise<void> {
  if ((await findOpenInvite(db.read, secret, clock.now())) === null) throw signUpClosed();
}

/** The invitation of a secret, if it is neither expired nor used. */
export async function findOpenInvite(manager: EntityManager, secret: string, now: number): Promise<InviteRow | null> {
  if (!looksLikeSecret(secret)) return null;
  const row = await manager.findOneBy(inviteSchema, { tokenHash: hashSecret(secret), usedAt: IsNull() });
  return row === null || now >= row.expiresAt ? null : row;
}

/** Wrong, expired and used secrets look the same from outside: as if there were no sign-up. */
export function signUpClosed() {
  return notFound('sign_up_closed', 'This invite does not work any more. Ask for a new one.');
}
