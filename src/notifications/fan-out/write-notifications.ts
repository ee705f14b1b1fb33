import { rowsTable } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { reasons } from '../schema/notification-schema.ts';
import type { NotifiedEvent, Recipient } from '../notified-event.ts';

const strength = (expression: string): string =>
  `CASE ${expression} ${reasons.map((reason, at) => `WHEN '${reason}' THEN ${at}`).join(' ')} ELSE ${reasons.length} END`;

const wasUnread =
  'notifications.listed_at IS NOT NULL AND notifications.read_at IS NULL AND notifications.done_at IS NULL';

/**
 * One row per user and subject: a new one, or the existing one becomes unread again from this event on. An unread row
 * keeps its first unread position, and its reason unless the new one is stronger. An event not later than the last one
 * of a row changes nothing, so an event announced twice has one row. Skips users without an account.
 */
export const upsertNotificationsSql = `INSERT INTO notifications
    (user_id, subject, repository_id, issue_id, reason, details, context, first_position, last_position, listed_at, fed_at)
  SELECT list.user_id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), list.reason, CAST(? AS TEXT), CAST(? AS TEXT),
    CAST(? AS BIGINT), CAST(? AS BIGINT),
    CASE WHEN list.inbox = 1 THEN CAST(? AS BIGINT) END, CASE WHEN list.feed = 1 THEN CAST(? AS BIGINT) END
  FROM ${rowsTable({ user_id: 'text', reason: 'text', inbox: 'bigint', feed: 'bigint' })}
  WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = list.user_id)
  ON CONFLICT (user_id, subject) DO UPDATE SET
    repository_id = excluded.repository_id,
    details = excluded.details,
    context = excluded.context,
    reason = CASE WHEN excluded.listed_at IS NULL
        OR (${wasUnread} AND ${strength('notifications.reason')} <= ${strength('excluded.reason')})
      THEN notifications.reason ELSE excluded.reason END,
    first_position = CASE WHEN excluded.listed_at IS NULL OR (${wasUnread})
      THEN notifications.first_position ELSE excluded.first_position END,
    last_position = excluded.last_position,
    read_at = CASE WHEN excluded.listed_at IS NULL THEN notifications.read_at END,
    done_at = CASE WHEN excluded.listed_at IS NULL THEN notifications.done_at END,
    listed_at = COALESCE(excluded.listed_at, notifications.listed_at),
    fed_at = COALESCE(excluded.fed_at, notifications.fed_at),
    resolved_at = NULL
  WHERE excluded.last_position > notifications.last_position`;

/** Writes inbox and feed rows, inside the transaction that records the event. */
export async function writeNotifications(
  { manager, now }: Tx,
  event: NotifiedEvent,
  recipients: readonly Recipient[],
): Promise<void> {
  const rows = recipients
    .filter(({ inbox, feed }) => inbox || feed)
    .map(({ userId, reason, inbox, feed }) => [userId, reason, Number(inbox), Number(feed)]);
  if (rows.length === 0) return;
  const { subject, repositoryId, issueId, details, context, firstPosition, lastPosition } = event;
  await manager.query(upsertNotificationsSql, [
    subject,
    repositoryId,
    issueId,
    details,
    context,
    firstPosition,
    lastPosition,
    now,
    now,
    JSON.stringify(rows),
  ]);
}
