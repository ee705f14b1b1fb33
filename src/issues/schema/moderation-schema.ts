import { EntitySchema } from 'typeorm';

export type HideReason = 'spam' | 'abuse' | 'off_topic' | 'outdated' | 'duplicate' | 'resolved';

/** A user blocked from contributing to everything of an owner. */
export interface BlockRow {
  ownerId: string;
  userId: string;
  reason: string;
  blockedBy: string | null;
  createdAt: number;
}

export const blockSchema = new EntitySchema<BlockRow>({
  name: 'ownerBlock',
  tableName: 'owner_blocks',
  columns: {
    ownerId: { name: 'owner_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    reason: { type: 'text' },
    blockedBy: { name: 'blocked_by', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** An entry hidden for everyone. */
export interface HiddenEntryRow {
  issueId: string;
  position: number;
  reason: HideReason;
  hiddenBy: string | null;
  hiddenAt: number;
}

export const hiddenEntrySchema = new EntitySchema<HiddenEntryRow>({
  name: 'hiddenEntry',
  tableName: 'hidden_entries',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    reason: { type: 'text' },
    hiddenBy: { name: 'hidden_by', type: 'text', nullable: true },
    hiddenAt: { name: 'hidden_at', type: 'integer' },
  },
});

/** A user who has written something in a repository. */
interface ContributorRow {
  repositoryId: string;
  userId: string;
  firstAt: number;
  /** Null while the first contribution is held. */
  admittedAt: number | null;
}

export const contributorSchema = new EntitySchema<ContributorRow>({
  name: 'contributor',
  tableName: 'contributors',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    firstAt: { name: 'first_at', type: 'integer' },
    admittedAt: { name: 'admitted_at', type: 'integer', nullable: true },
  },
});

/** An entry held for a member's approval. */
export interface HeldContributionRow {
  issueId: string;
  position: number;
  repositoryId: string;
  userId: string;
  heldAt: number;
}

export const heldContributionSchema = new EntitySchema<HeldContributionRow>({
  name: 'heldContribution',
  tableName: 'held_contributions',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    userId: { name: 'user_id', type: 'text' },
    heldAt: { name: 'held_at', type: 'integer' },
  },
});
