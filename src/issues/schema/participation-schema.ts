import { EntitySchema } from 'typeorm';

export type ReactionKind = '+1' | '-1' | 'laugh' | 'heart' | 'hooray' | 'confused' | 'rocket' | 'eyes';
export type SubscriptionReason = 'author' | 'comment' | 'mention' | 'assigned' | 'manual';

/** An assignee of an issue. */
interface AssigneeRow {
  issueId: string;
  userId: string;
}

export const assigneeSchema = new EntitySchema<AssigneeRow>({
  name: 'issueAssignee',
  tableName: 'issue_assignees',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
  },
});

/** A user mentioned in a text of an issue. */
interface MentionRow {
  issueId: string;
  userId: string;
}

export const mentionSchema = new EntitySchema<MentionRow>({
  name: 'issueMention',
  tableName: 'issue_mentions',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
  },
});

/** A reaction to the entry of an issue. */
export interface ReactionRow {
  issueId: string;
  position: number;
  userId: string;
  kind: ReactionKind;
}

export const reactionSchema = new EntitySchema<ReactionRow>({
  name: 'reaction',
  tableName: 'reactions',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    kind: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
  },
});

/** A reaction of a remote person without an account here. */
export interface ImportedReactionRow {
  issueId: string;
  position: number;
  kind: ReactionKind;
  /** `login@host`. */
  person: string;
  /** The account verified as that person's: its own reaction takes precedence over this one. */
  userId: string | null;
  /** Whether that account had given the same reaction itself before it was claimed. */
  isOwn: boolean;
}

export const importedReactionSchema = new EntitySchema<ImportedReactionRow>({
  name: 'importedReaction',
  tableName: 'imported_reactions',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    kind: { type: 'text', primary: true },
    person: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', nullable: true },
    isOwn: { name: 'is_own', type: 'boolean' },
  },
});

/** Whether a user has subscribed to an issue. */
export interface SubscriptionRow {
  issueId: string;
  userId: string;
  /** False after an explicit unsubscription: then only the user changes it. */
  isOn: boolean;
  reason: SubscriptionReason;
  /** The first entry of which the user is notified: earlier ones existed when the subscription began. */
  fromPosition: number;
}

export const subscriptionSchema = new EntitySchema<SubscriptionRow>({
  name: 'subscription',
  tableName: 'subscriptions',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    isOn: { name: 'is_on', type: 'boolean' },
    reason: { type: 'text' },
    fromPosition: { name: 'from_position', type: 'integer' },
  },
});

/** A text that a user has not sent yet. */
export interface DraftRow {
  userId: string;
  /** The form of the draft: `issue:<id>`, `new:<repository>`. */
  context: string;
  body: string;
  updatedAt: number;
}

export const draftSchema = new EntitySchema<DraftRow>({
  name: 'draft',
  tableName: 'drafts',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    context: { type: 'text', primary: true },
    body: { type: 'text' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
