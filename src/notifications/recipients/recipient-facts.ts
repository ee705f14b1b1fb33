import { personViewer, repositoryLevel } from '../../access/index.ts';
import { inList } from '../../db/index.ts';
import type { Database } from '../../db/index.ts';
import { yieldToEventLoop } from '../../kernel/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { Repository } from '../../repositories/index.ts';
import { isOnByDefault } from '../channels/default-rules.ts';
import type { Recipient } from '../notified-event.ts';
import { channels } from '../schema/channel-schema.ts';
import type { Channel } from '../schema/channel-schema.ts';
import type { Reason } from '../schema/notification-schema.ts';
import type { WatchLevel } from '../schema/watch-schema.ts';

type Deps = { db: Pick<Database, 'read'> };

/** All users with a watch level for a repository. */
export async function watchesOf({ db }: Deps, { id }: Pick<Repository, 'id'>): Promise<Map<string, WatchLevel>> {
  const rows: { user_id: string; level: WatchLevel }[] = await db.read.query(
    'SELECT user_id, level FROM watches WHERE repository_id = ?',
    [id],
  );
  return new Map(rows.map(({ user_id, level }) => [user_id, level]));
}

/** All users who subscribed to an issue before its entry at a position, or have unsubscribed from it since. */
export async function subscriptionsOf({ db }: Deps, issueId: string, position: number): Promise<Map<string, boolean>> {
  const rows: { user_id: string; is_on: unknown }[] = await db.read.query(
    'SELECT user_id, is_on FROM subscriptions WHERE issue_id = ? AND (is_on = 0 OR from_position <= ?)',
    [issueId, position],
  );
  return new Map(rows.map(({ user_id, is_on }) => [user_id, Number(is_on) === 1]));
}

export async function assigneesOf({ db }: Deps, issueId: string): Promise<string[]> {
  const rows: { user_id: string }[] = await db.read.query('SELECT user_id FROM issue_assignees WHERE issue_id = ?', [
    issueId,
  ]);
  return rows.map(({ user_id }) => user_id);
}

/** Users whose review a pull request waits for; none for an issue. */
export async function reviewersOf({ db }: Deps, issueId: string): Promise<string[]> {
  const rows: { user_id: string }[] = await db.read.query(
    'SELECT user_id FROM review_requests WHERE issue_id = ? AND answered_at IS NULL',
    [issueId],
  );
  return rows.map(({ user_id }) => user_id);
}

/** The members of a team whose review a pull request waits for. */
export async function teamReviewersOf({ db }: Deps, issueId: string, teamId: string): Promise<string[]> {
  const rows: { user_id: string }[] = await db.read.query(
    'SELECT user_id FROM team_reviewers WHERE issue_id = ? AND team_id = ?',
    [issueId, teamId],
  );
  return rows.map(({ user_id }) => user_id);
}

/** Those of some teams that a user is in. */
export async function teamsOf({ db }: Deps, userId: string, teamIds: readonly string[]): Promise<Set<string>> {
  if (teamIds.length === 0) return new Set();
  const rows: { team_id: string }[] = await db.read.query(
    `SELECT team_id FROM team_members WHERE user_id = ? AND ${inList('team_id')}`,
    [userId, JSON.stringify(teamIds)],
  );
  return new Set(rows.map(({ team_id }) => team_id));
}

/** A line comment of a review. */
interface ReviewCommentText {
  /** Null: the whole round. */
  path: string | null;
  /** Null: the whole file. */
  line: number | null;
  body: string;
}

/** The line comments of a submitted review, in the order in which they were written. */
export async function reviewComments({ db }: Deps, reviewId: string): Promise<ReviewCommentText[]> {
  const rows: (Omit<ReviewCommentText, 'line'> & { line: unknown; at: number; thread: string; position: number })[] =
    await db.read.query(
      `SELECT t.path AS path, t.last_line AS line, c.body AS body, c.created_at AS at, c.thread_id AS thread,
         c.position AS position
       FROM review_comments c JOIN review_threads t ON t.id = c.thread_id
       WHERE c.review_id = ? AND c.deleted_at IS NULL`,
      [reviewId],
    );
  // A review has too few of them to need an index for their order.
  rows.sort(
    (one, other) =>
      Number(one.at) - Number(other.at) ||
      (one.thread === other.thread
        ? Number(one.position) - Number(other.position)
        : one.thread < other.thread
          ? -1
          : 1),
  );
  return rows.map(({ path, line, body }) => ({ path, line: line === null ? null : Number(line), body }));
}

/** Users and organisations that have blocked a user. */
export async function blockersOf({ db }: Deps, personId: string | null): Promise<Set<string>> {
  if (personId === null) return new Set();
  const rows: { owner_id: string }[] = await db.read.query('SELECT owner_id FROM owner_blocks WHERE user_id = ?', [
    personId,
  ]);
  return new Set(rows.map(({ owner_id }) => owner_id));
}

/** Those of these users who can currently read a repository, with their reasons. */
export async function filterReaders(
  { repositories }: Pick<NotificationDeps, 'repositories'>,
  repository: Repository,
  recipients: ReadonlyMap<string, Reason>,
): Promise<Map<string, Reason>> {
  const readers = new Map<string, Reason>();
  for (const [index, [id, reason]] of [...recipients].entries()) {
    if (index % 100 === 99) await yieldToEventLoop();
    const facts = await repositories.factsOf(id, repository);
    if (repositoryLevel(personViewer(id, 'admin'), facts) !== 'none') readers.set(id, reason);
  }
  return readers;
}

/** Adds the enabled channels of each user; removes users without one, and disabled accounts. */
export async function withChannels(
  { db, accounts, mailer }: Pick<NotificationDeps, 'db' | 'accounts' | 'mailer'>,
  recipients: ReadonlyMap<string, Reason>,
): Promise<Recipient[]> {
  const ids = JSON.stringify([...recipients.keys()]);
  const active: { id: string }[] = await db.read.query(
    `SELECT id FROM users WHERE ${inList('id')} AND disabled_at IS NULL`,
    [ids],
  );
  const rules: { user_id: string; reason: Reason; channel: Channel; is_on: unknown }[] = await db.read.query(
    `SELECT user_id, reason, channel, is_on FROM notification_rules WHERE ${inList('user_id')}`,
    [ids],
  );
  const given = new Map(
    rules.map(({ user_id, reason, channel, is_on }) => [`${user_id} ${reason} ${channel}`, Number(is_on) === 1]),
  );
  const addresses = mailer.isOn
    ? await accounts.addresses.primariesOf(active.map(({ id }) => id))
    : new Map<string, string>();
  return active.flatMap(({ id: userId }) => {
    const reason = recipients.get(userId)!;
    const [inbox, mail, feed] = channels.map(
      (channel) => given.get(`${userId} ${reason} ${channel}`) ?? isOnByDefault(reason, channel),
    ) as [boolean, boolean, boolean];
    const isMailed = mail && addresses.has(userId);
    return inbox || isMailed || feed ? [{ userId, reason, inbox, mail: isMailed, feed }] : [];
  });
}
