import { EntitySchema } from 'typeorm';
import type { Reason, Subject } from './notification-schema.ts';

export const channels = ['inbox', 'mail', 'feed'] as const;
export type Channel = (typeof channels)[number];

export const digests = ['immediately', 'daily', 'weekly'] as const;
/** Time of mails: a minute after the first event of a subject, or a digest of a day or a week. */
export type Digest = (typeof digests)[number];

/** A rule that differs from the default of its reason and channel. */
interface RuleRow {
  userId: string;
  reason: Reason;
  channel: Channel;
  isOn: boolean;
}

export const ruleSchema = new EntitySchema<RuleRow>({
  name: 'notificationRule',
  tableName: 'notification_rules',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    reason: { type: 'text', primary: true },
    channel: { type: 'text', primary: true },
    isOn: { name: 'is_on', type: 'boolean' },
  },
});

interface SettingsRow {
  userId: string;
  digest: Digest;
}

export const settingsSchema = new EntitySchema<SettingsRow>({
  name: 'notificationSettings',
  tableName: 'notification_settings',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    digest: { type: 'text' },
  },
});

/** A user's private feed, whose URL contains a secret. */
interface FeedRow {
  userId: string;
  tokenHash: string;
  createdAt: number;
}

export const feedSchema = new EntitySchema<FeedRow>({
  name: 'notificationFeed',
  tableName: 'notification_feeds',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    tokenHash: { name: 'token_hash', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** The part of a pending digest about one subject. Does not change after `dueAt`. */
export interface MailPartRow {
  userId: string;
  dueAt: number;
  subject: Subject;
  digest: Digest;
  repositoryId: string;
  issueId: string | null;
  reason: Reason;
  details: string;
  firstPosition: number;
  lastPosition: number;
}

export const mailPartSchema = new EntitySchema<MailPartRow>({
  name: 'notificationMail',
  tableName: 'notification_mails',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    dueAt: { name: 'due_at', type: 'integer', primary: true },
    subject: { type: 'text', primary: true },
    digest: { type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text' },
    issueId: { name: 'issue_id', type: 'text', nullable: true },
    reason: { type: 'text' },
    details: { type: 'text' },
    firstPosition: { name: 'first_position', type: 'integer' },
    lastPosition: { name: 'last_position', type: 'integer' },
  },
});
