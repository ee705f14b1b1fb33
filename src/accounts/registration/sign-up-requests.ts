import { LessThan } from 'typeorm';
import { layout } from '../../mail/index.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { Tx } from '../../db/index.ts';
import { notFound, unavailable } from '../../kernel/index.ts';
import { parseNewAddress } from '../addresses/add-address.ts';
import { personIdOfAddress } from '../addresses/people-by-address.ts';
import type { AccountsDeps } from '../deps.ts';
import { parseText } from '../validate-text.ts';
import { signUpRequestSchema } from '../schema/sign-up-request-schema.ts';
import type { SignUpRequest } from '../schema/sign-up-request-schema.ts';
import { addInvite, signUpClosed } from './invites.ts';
import type { Invite } from './invites.ts';

/** Mail kinds that notify administrators of a request, and reject a request. */
const signUpRequestMail = 'sign-up-request';
const signUpRefusedMail = 'sign-up-refused';

const limits = { open: 1_000, reasonCharacters: 500, administrators: 50 };
/** Unanswered requests expire after this time. */
const lifetimeMs = 30 * 86_400_000;
/** Administrators get one mail for all requests within this time. */
const mailEveryMs = 60 * 60_000;

interface NewSignUpRequest {
  address: string;
  reason: string;
  /** The client's network address. */
  network: string;
}

/**
 * Requests an account. The response is the same whether an account has the address or a request is already pending.
 * Administrators are notified by mail at most once an hour. Throws `sign_up_closed` if the settings do not allow
 * requests; `invalid_address`, `reserved_address`, `text_too_long`; `too_many_resets` from one network or for one
 * address; `too_many_sign_ups` while too many are pending.
 */
export async function requestSignUp(deps: AccountsDeps, { address, reason, network }: NewSignUpRequest): Promise<void> {
  if (deps.settings.signUp !== 'approval') throw signUpClosed();
  const rule = { field: 'reason', called: 'The text', maxCharacters: limits.reasonCharacters, manyLines: true };
  const text = parseText(reason, rule);
  const parsed = parseNewAddress(deps, address);
  await deps.resetRateLimit.count({ key: parsed.key, network });
  if ((await personIdOfAddress(deps, parsed.key)) !== null) return;
  const isMailed = await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    await manager.delete(signUpRequestSchema, { createdAt: LessThan(now - lifetimeMs) });
    if (await manager.existsBy(signUpRequestSchema, { addressKey: parsed.key })) return false;
    if ((await manager.count(signUpRequestSchema)) >= limits.open)
      throw unavailable('too_many_sign_ups', 'Too many sign-up requests are pending. Try again later.', {
        retryAfterSeconds: 3_600,
      });
    const [latest] = await manager.find(signUpRequestSchema, { order: { createdAt: 'DESC' }, take: 1 });
    await manager.insert(signUpRequestSchema, {
      id: deps.random.uuid(),
      address: parsed.address,
      addressKey: parsed.key,
      reason: text,
      createdAt: now,
    });
    return latest === undefined || now - latest.createdAt >= mailEveryMs ? mailAdministrators(deps, tx) : false;
  });
  if (isMailed) deps.mail.wake();
}

async function mailAdministrators(deps: AccountsDeps, tx: Tx): Promise<boolean> {
  if (!deps.mail.isConfigured) return false;
  const rows: { id: string }[] = await tx.manager.query(
    `SELECT u.id AS id FROM users u WHERE u.is_administrator = 1 AND u.disabled_at IS NULL LIMIT ${limits.administrators}`,
  );
  for (const { id } of rows) await deps.mail.enqueue(tx, { kind: signUpRequestMail, data: { personId: id } });
  return rows.length > 0;
}

/** Pending requests, oldest first. */
export async function listSignUpRequests({ db, clock }: AccountsDeps): Promise<SignUpRequest[]> {
  return db.read
    .createQueryBuilder(signUpRequestSchema, 's')
    .where('s.created_at > :since', { since: clock.now() - lifetimeMs })
    .orderBy('s.created_at')
    .addOrderBy('s.id')
    .limit(limits.open)
    .getMany();
}

/**
 * Approves a request: creates an invitation for the address, and mails it if mail is configured.
 * @param by id of the administrator; null for the command line
 * @returns the invitation with its secret, shown once. Throws `unknown_sign_up_request`, and what `addInvite` throws.
 */
export async function approveSignUp(
  deps: AccountsDeps,
  by: string | null,
  id: string,
): Promise<{ invite: Invite; secret: string }> {
  const request = await deps.db.read.findOneBy(signUpRequestSchema, { id });
  if (request === null) throw unknownRequest();
  // The second of two administrators finds no request left.
  await takeRequest(deps, id);
  return addInvite(deps, by, { address: request.address });
}

/** Rejects and deletes a request, and notifies by mail if configured. Throws `unknown_sign_up_request`. */
export async function refuseSignUp(deps: AccountsDeps, id: string): Promise<SignUpRequest> {
  const request = await deps.db.read.findOneBy(signUpRequestSchema, { id });
  if (request === null) throw unknownRequest();
  await takeRequest(deps, id, async (tx) => {
    if (deps.mail.isConfigured)
      await deps.mail.enqueue(tx, { kind: signUpRefusedMail, data: { address: request.address } });
  });
  deps.mail.wake();
  return request;
}

async function takeRequest(deps: AccountsDeps, id: string, also?: (tx: Tx) => Promise<void>): Promise<void> {
  await deps.db.write(async (tx) => {
    const { affected } = await tx.manager.delete(signUpRequestSchema, { id });
    if (affected === 0) throw unknownRequest();
    await also?.(tx);
  });
}

export function defineSignUpMails(deps: AccountsDeps): void {
  deps.mail.define<{ personId: string }>(
    signUpRequestMail,
    (data) => renderRequest(deps, data),
    'Messages to administrators about account requests, where the settings allow these.',
  );
  deps.mail.define<{ address: string }>(
    signUpRefusedMail,
    async ({ address }) => renderRefusal(deps, address),
    'Answers to refused requests for an account.',
  );
}

/** Dropped if no request is pending any more, or the administrator has no verified address. */
async function renderRequest(deps: AccountsDeps, { personId }: { personId: string }): Promise<MailMessage | null> {
  const [row]: { address: string }[] = await deps.db.read.query(
    `SELECT e.address AS address FROM email_addresses e JOIN users u ON u.id = e.user_id
     WHERE e.user_id = ? AND e.is_primary = 1 AND e.verified_at IS NOT NULL
       AND u.is_administrator = 1 AND u.disabled_at IS NULL`,
    [personId],
  );
  const waiting = await listSignUpRequests(deps);
  if (row === undefined || waiting.length === 0) return null;
  const host = new URL(deps.baseUrl!).host;
  return {
    to: row.address,
    subject: `Requests for an account at ${host}`,
    ...layout({
      title: waiting.length === 1 ? 'A person asks for an account' : `${waiting.length} people ask for an account`,
      parts: waiting.slice(0, 10).map(({ address }) => address),
      action: { text: 'Look at the requests', url: `${deps.baseUrl}/admin/invites` },
      footer: ['You get this mail because you administer this server.'],
    }),
  };
}

function renderRefusal({ baseUrl }: AccountsDeps, address: string): MailMessage {
  const host = new URL(baseUrl!).host;
  return {
    to: address,
    subject: `Your request for an account at ${host}`,
    ...layout({
      title: 'There is no account for you',
      parts: [`You asked for an account at ${host}. An administrator decided against it.`],
      footer: ['If you did not ask for an account, do nothing.'],
    }),
  };
}

const unknownRequest = () => notFound('unknown_sign_up_request', 'This request does not wait any more.');
