import { rows } from '../db/index.ts';
import { notFound } from '../kernel/index.ts';
import type { MessageState } from '../outbox/index.ts';
import type { MailDeps } from './deps.ts';
import { mailKind, readPayload } from './stored-mail.ts';
import type { StoredMail } from './stored-mail.ts';

/** A mail as shown to administrators: never its text, which can contain a token or private data. */
export interface QueuedMail {
  id: number;
  /** As named by the module that sends it. */
  kind: string;
  state: MessageState;
  attempts: number;
  /** Time of the next attempt, or of the last one; milliseconds since the epoch. */
  nextAt: number;
  createdAt: number;
  /** Error of the last attempt, with the mail server's message. */
  error: string | null;
  /** Null before the first attempt, which determines the recipient. */
  to: string | null;
  subject: string | null;
  /** The mail server's response. */
  response: string | null;
  /** Nothing was sent, because the reason for the mail no longer applied. */
  isDropped: boolean;
}

interface Row {
  id: number;
  state: MessageState;
  attempts: number;
  nextAt: number;
  createdAt: number;
  error: string | null;
  payload: string | null;
}

const columns = `id, state, attempts, next_at AS "nextAt", created_at AS "createdAt", last_error AS error, payload`;
const maxRetried = 1_000;

/** Mails of one state, by the time of their next or last attempt, latest first. */
export async function listMails(
  deps: MailDeps,
  { state, limit, before }: { state: MessageState; limit: number; before?: { nextAt: number; id: number } | undefined },
): Promise<QueuedMail[]> {
  const found = await rows<Row>(
    deps.db.read,
    `SELECT ${columns} FROM outbox WHERE state = ? AND kind = ? AND (next_at, id) < (?, ?)
      ORDER BY next_at DESC, id DESC LIMIT ?`,
    [state, mailKind, before?.nextAt ?? Number.MAX_SAFE_INTEGER, before?.id ?? Number.MAX_SAFE_INTEGER, limit],
  );
  return found.map((row) => describe(deps, row));
}

/** Numbers of waiting and of failed mails, counted up to a thousand. */
export async function countMails({ db }: MailDeps): Promise<{ pending: number; failed: number }> {
  const count = async (state: MessageState): Promise<number> => {
    const [row] = await rows<{ count: number }>(
      db.read,
      'SELECT count(*) AS count FROM (SELECT 1 AS one FROM outbox WHERE state = ? AND kind = ? LIMIT 1000) AS counted',
      [state, mailKind],
    );
    return Number(row?.count ?? 0);
  };
  const [pending, failed] = await Promise.all([count('PENDING'), count('FAILED')]);
  return { pending, failed };
}

/** Queues a failed mail again. Throws `unknown_message` and `message_not_failed`. */
export async function retryMail({ db, outbox, logger }: MailDeps, id: number): Promise<void> {
  const [row] = await rows(db.read, 'SELECT 1 AS one FROM outbox WHERE id = ? AND kind = ?', [id, mailKind]);
  if (row === undefined) throw notFound('unknown_message', 'There is no such mail.');
  await outbox.retry(id);
  logger.info('mail.retried', { message: id });
}

/** Queues failed mails again, at most a thousand. @returns number of mails */
export async function retryFailedMails({ db, logger }: MailDeps): Promise<number> {
  const retried = await db.write(async ({ manager, now }) =>
    rows(
      manager,
      `UPDATE outbox SET state = 'PENDING', attempts = 0, next_at = ?, lease_until = 0
        WHERE id IN (SELECT id FROM outbox WHERE state = 'FAILED' AND kind = ? ORDER BY next_at LIMIT ?) RETURNING id`,
      [now, mailKind, maxRetried],
    ),
  );
  logger.info('mail.failed_retried', { mails: retried.length });
  return retried.length;
}

function describe(deps: MailDeps, { payload, ...row }: Row): QueuedMail {
  const stored = readable(deps, payload);
  const { to = null, subject = null, response = null, isDropped = false } = stored?.contents ?? {};
  return { ...row, kind: stored?.kind ?? '?', to, subject, response, isDropped };
}

/** Null for a mail that cannot be decrypted with this key: the rest of its row is still shown. */
function readable(deps: MailDeps, payload: string | null): StoredMail | null {
  try {
    return readPayload(deps, payload);
  } catch {
    return null;
  }
}
