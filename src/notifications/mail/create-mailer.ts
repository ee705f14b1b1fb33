import { greatest, inList, rowsTable } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { limits } from '../limits.ts';
import type { NotifiedEvent } from '../notified-event.ts';
import type { Digest } from '../schema/channel-schema.ts';
import { nextDigest } from './digest-times.ts';
import { digestMail, subjectMail } from '../mailer.ts';
import type { DigestMailData, Mailer, MailPort, MailRecipient, SubjectMailData } from '../mailer.ts';

/** Queues the event for the next digest. */
const addPart = `INSERT INTO notification_mails
    (user_id, due_at, subject, digest, repository_id, issue_id, reason, details, first_position, last_position)
  SELECT list.user_id, list.due_at, CAST(? AS TEXT), list.digest, CAST(? AS TEXT), CAST(? AS TEXT), list.reason,
    CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT)
  FROM ${rowsTable({ user_id: 'text', due_at: 'bigint', digest: 'text', reason: 'text' })}
  WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = list.user_id)
  ON CONFLICT (user_id, subject, due_at) DO UPDATE SET
    details = excluded.details,
    last_position = ${greatest('notification_mails.last_position', 'excluded.last_position')}`;

/**
 * Queues mails: the events of a subject within a minute share one mail; a digest has the events of a day or a week. A
 * mail's content is complete when it is due, so that every sending attempt has the same content. Stores nothing without
 * mail settings.
 */
export function createMailer(mail: Pick<MailPort, 'isConfigured' | 'enqueue'>): Mailer {
  return {
    isOn: mail.isConfigured,
    async enqueue(tx, event, recipients) {
      if (!mail.isConfigured || recipients.length === 0) return;
      const digests = await digestsOf(tx, recipients);
      const open = await openMails(tx, event, recipients);
      const parts: [userId: string, dueAt: number, digest: Digest, reason: string][] = [];
      for (const { userId, reason } of recipients) {
        const digest = digests.get(userId) ?? 'immediately';
        const isDigest = digest !== 'immediately';
        const known = isDigest ? open.digests.get(userId) : open.subjects.get(userId);
        const next = isDigest ? nextDigest(tx.now, digest) : tx.now + limits.mailWindowMs;
        const dueAt = known ?? next;
        parts.push([userId, dueAt, digest, reason]);
        if (known !== undefined) continue;
        const data: SubjectMailData | DigestMailData = isDigest
          ? { userId, dueAt }
          : { userId, subject: event.subject, dueAt };
        await mail.enqueue(tx, { kind: isDigest ? digestMail : subjectMail, data, at: dueAt, key: userId });
      }
      const { subject, repositoryId, issueId, details, firstPosition, lastPosition } = event;
      await tx.manager.query(addPart, [
        subject,
        repositoryId,
        issueId,
        details,
        firstPosition,
        lastPosition,
        JSON.stringify(parts),
      ]);
    },
  };
}

async function digestsOf({ manager }: Tx, recipients: readonly MailRecipient[]): Promise<Map<string, Digest>> {
  const rows: { user_id: string; digest: Digest }[] = await manager.query(
    `SELECT user_id, digest FROM notification_settings WHERE ${inList('user_id')}`,
    [JSON.stringify(recipients.map(({ userId }) => userId))],
  );
  return new Map(rows.map(({ user_id, digest }) => [user_id, digest]));
}

/** Queued mails that are not due yet: of this subject, and digests, each with its due time. */
async function openMails(
  { manager, now }: Tx,
  { subject }: NotifiedEvent,
  recipients: readonly MailRecipient[],
): Promise<{ subjects: Map<string, number>; digests: Map<string, number> }> {
  const rows: { user_id: string; due_at: number; subject: string; digest: Digest }[] = await manager.query(
    `SELECT user_id, due_at, subject, digest FROM notification_mails
     WHERE ${inList('user_id')} AND due_at > ? AND (subject = ? OR digest <> 'immediately')`,
    [JSON.stringify(recipients.map(({ userId }) => userId)), now, subject],
  );
  const [subjects, digests] = [new Map<string, number>(), new Map<string, number>()];
  for (const row of rows) (row.digest === 'immediately' ? subjects : digests).set(row.user_id, Number(row.due_at));
  return { subjects, digests };
}
