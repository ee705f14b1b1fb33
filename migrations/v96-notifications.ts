import type { Migration } from '../src/db/index.ts';

const person = 'user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE';
const repository = 'repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE';
const reasons =
  "('mention', 'review_asked', 'assigned', 'author', 'reply', 'approved', 'merged', 'ci_failed', 'release', 'watching')";

/** Whether a row of `notifications` counts as unread. */
const unread = (row: string): string =>
  `CASE WHEN ${row}.listed_at IS NOT NULL AND ${row}.read_at IS NULL AND ${row}.done_at IS NULL THEN 1 ELSE 0 END`;
const watching = (row: string): string => `CASE WHEN ${row}.level = 'everything' THEN 1 ELSE 0 END`;

const ownersWatch = `INSERT INTO watches (user_id, repository_id, level, created_at)
        SELECT NEW.owner_user_id, NEW.id, 'everything', NEW.created_at WHERE NEW.owner_user_id IS NOT NULL
        ON CONFLICT (user_id, repository_id) DO NOTHING;
      INSERT INTO watches (user_id, repository_id, level, created_at)
        SELECT m.user_id, NEW.id, 'everything', NEW.created_at FROM organisation_members m
        WHERE m.organisation_id = NEW.owner_org_id AND m.role = 'OWNER'
        ON CONFLICT (user_id, repository_id) DO NOTHING;`;

/**
 * Watching, the inbox, and the channels of notifications. An inbox has one row for each person and subject, whatever
 * happened there: positions say what of it is unread. Reasons of pull requests and releases come with them.
 */
export const notifications: Migration = {
  version: 96,
  name: 'Notifications',
  statements: [
    // A person without a row takes part only in what concerns them. Who owns a repository watches all of it from the
    // beginning, and from a transfer on.
    `CREATE TABLE watches (
      ${person},
      ${repository},
      level TEXT NOT NULL CONSTRAINT watches_level CHECK (level IN ('everything', 'participating', 'releases', 'ignore')),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, repository_id)
    )`,
    `CREATE INDEX watches_repository ON watches (repository_id, level, user_id)`,
    `CREATE INDEX watches_age ON watches (user_id, created_at, repository_id)`,
    `CREATE TABLE watch_counts (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      watching BIGINT NOT NULL
    )`,
    `CREATE TRIGGER watch_counts_added AFTER INSERT ON watches BEGIN
      INSERT INTO watch_counts (repository_id, watching) VALUES (NEW.repository_id, ${watching('NEW')})
        ON CONFLICT (repository_id) DO UPDATE SET watching = watch_counts.watching + excluded.watching; END`,
    `CREATE TRIGGER watch_counts_removed AFTER DELETE ON watches BEGIN
      UPDATE watch_counts SET watching = watching - ${watching('OLD')} WHERE repository_id = OLD.repository_id; END`,
    `CREATE TRIGGER watch_counts_changed AFTER UPDATE OF level ON watches BEGIN
      UPDATE watch_counts SET watching = watching - ${watching('OLD')} + ${watching('NEW')} WHERE repository_id = NEW.repository_id; END`,
    `CREATE TRIGGER watches_of_owner AFTER INSERT ON repositories BEGIN ${ownersWatch} END`,
    `CREATE TRIGGER watches_of_new_owner AFTER UPDATE OF owner_user_id, owner_org_id ON repositories BEGIN ${ownersWatch} END`,
    `INSERT INTO watches (user_id, repository_id, level, created_at)
      SELECT owner_user_id, id, 'everything', created_at FROM repositories WHERE owner_user_id IS NOT NULL`,
    `INSERT INTO watches (user_id, repository_id, level, created_at)
      SELECT m.user_id, r.id, 'everything', r.created_at
      FROM repositories r JOIN organisation_members m ON m.organisation_id = r.owner_org_id WHERE m.role = 'OWNER'`,

    // `listed_at` and `fed_at`: the last event that the inbox and the feed tell of; null where they tell of none.
    `CREATE TABLE notifications (
      id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      ${person},
      subject TEXT NOT NULL,
      ${repository},
      issue_id TEXT REFERENCES issues (id) ON DELETE CASCADE,
      reason TEXT NOT NULL CONSTRAINT notifications_reason CHECK (reason IN ${reasons}),
      details TEXT NOT NULL DEFAULT '{}',
      context TEXT NOT NULL DEFAULT '',
      first_position BIGINT NOT NULL,
      last_position BIGINT NOT NULL,
      listed_at BIGINT,
      fed_at BIGINT,
      read_at BIGINT,
      done_at BIGINT,
      saved_at BIGINT,
      resolved_at BIGINT,
      CONSTRAINT notifications_subject UNIQUE (user_id, subject)
    )`,
    `CREATE INDEX notifications_inbox ON notifications (user_id, listed_at, id) WHERE listed_at IS NOT NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_unread ON notifications (user_id, listed_at, id) WHERE listed_at IS NOT NULL AND read_at IS NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_saved ON notifications (user_id, saved_at, id) WHERE saved_at IS NOT NULL`,
    `CREATE INDEX notifications_done ON notifications (user_id, done_at, id) WHERE done_at IS NOT NULL`,
    `CREATE INDEX notifications_read ON notifications (user_id, read_at) WHERE read_at IS NOT NULL`,
    `CREATE INDEX notifications_feed ON notifications (user_id, fed_at, id) WHERE fed_at IS NOT NULL`,
    `CREATE INDEX notifications_place ON notifications (user_id, repository_id, listed_at, id) WHERE listed_at IS NOT NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_reason ON notifications (user_id, reason, listed_at, id) WHERE listed_at IS NOT NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_repository ON notifications (repository_id)`,
    `CREATE INDEX notifications_issue ON notifications (issue_id) WHERE issue_id IS NOT NULL`,
    `CREATE INDEX notifications_failing ON notifications (subject, context) WHERE resolved_at IS NULL AND issue_id IS NULL`,
    `CREATE INDEX notifications_done_age ON notifications (done_at) WHERE done_at IS NOT NULL AND saved_at IS NULL`,
    `CREATE TABLE notification_counts (
      user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      unread BIGINT NOT NULL,
      stored BIGINT NOT NULL
    )`,
    `CREATE INDEX notification_counts_stored ON notification_counts (stored)`,
    `CREATE TRIGGER notification_counts_added AFTER INSERT ON notifications BEGIN
      INSERT INTO notification_counts (user_id, unread, stored) VALUES (NEW.user_id, ${unread('NEW')}, 1)
        ON CONFLICT (user_id) DO UPDATE SET unread = notification_counts.unread + excluded.unread, stored = notification_counts.stored + 1; END`,
    `CREATE TRIGGER notification_counts_removed AFTER DELETE ON notifications BEGIN
      UPDATE notification_counts SET unread = unread - ${unread('OLD')}, stored = stored - 1 WHERE user_id = OLD.user_id; END`,
    `CREATE TRIGGER notification_counts_changed AFTER UPDATE OF listed_at, read_at, done_at ON notifications BEGIN
      UPDATE notification_counts SET unread = unread - ${unread('OLD')} + ${unread('NEW')} WHERE user_id = NEW.user_id; END`,
    // An issue that moves takes its notifications along.
    `CREATE TRIGGER notifications_moved AFTER UPDATE OF repository_id ON issues BEGIN
      UPDATE notifications SET repository_id = NEW.repository_id WHERE issue_id = NEW.id; END`,

    // What is to be told to many people, in parts that one write takes.
    `CREATE TABLE notification_batches (
      id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      payload TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      attempts BIGINT NOT NULL DEFAULT 0,
      next_at BIGINT NOT NULL,
      last_error TEXT
    )`,
    `CREATE INDEX notification_batches_due ON notification_batches (next_at, id)`,

    // Rules that differ from the defaults.
    `CREATE TABLE notification_rules (
      ${person},
      reason TEXT NOT NULL CONSTRAINT notification_rules_reason CHECK (reason IN ${reasons}),
      channel TEXT NOT NULL CONSTRAINT notification_rules_channel CHECK (channel IN ('inbox', 'mail', 'feed')),
      is_on INTEGER NOT NULL,
      PRIMARY KEY (user_id, reason, channel)
    )`,
    `CREATE TABLE notification_settings (
      user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      digest TEXT NOT NULL CONSTRAINT notification_settings_digest CHECK (digest IN ('immediately', 'daily', 'weekly'))
    )`,
    `CREATE TABLE notification_feeds (
      user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      token_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE UNIQUE INDEX notification_feeds_token ON notification_feeds (token_hash)`,
    // What a mail that is due then will tell of; the mail itself is a message of the outbox.
    `CREATE TABLE notification_mails (
      ${person},
      due_at BIGINT NOT NULL,
      subject TEXT NOT NULL,
      digest TEXT NOT NULL CONSTRAINT notification_mails_digest CHECK (digest IN ('immediately', 'daily', 'weekly')),
      ${repository},
      issue_id TEXT REFERENCES issues (id) ON DELETE CASCADE,
      reason TEXT NOT NULL,
      details TEXT NOT NULL DEFAULT '{}',
      first_position BIGINT NOT NULL,
      last_position BIGINT NOT NULL,
      PRIMARY KEY (user_id, subject, due_at)
    )`,
    `CREATE INDEX notification_mails_due ON notification_mails (user_id, due_at, subject)`,
    `CREATE INDEX notification_mails_age ON notification_mails (due_at)`,
    `CREATE INDEX notification_mails_repository ON notification_mails (repository_id)`,
    `CREATE INDEX notification_mails_issue ON notification_mails (issue_id) WHERE issue_id IS NOT NULL`,
  ],
};
