import { EntitySchema } from 'typeorm';

export type Verdict = 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES';
export type ThreadSide = 'OLD' | 'NEW';
/** State of the lines of a thread in a later round. */
export type ThreadState = 'same' | 'moved' | 'changed' | 'gone';

/** A review; a draft until it is submitted, visible only to its author. */
export interface ReviewRow {
  id: string;
  issueId: string;
  /** The round that was reviewed. */
  round: number;
  authorId: string | null;
  /** Name of the author of an imported review who has no account here. */
  authorName: string | null;
  verdict: Verdict | null;
  body: string;
  /** Position of its entry in the log of the issue. */
  position: number | null;
  createdAt: number;
  submittedAt: number | null;
  dismissedAt: number | null;
  dismissedBy: string | null;
  /** As `authorName`, for the user who dismissed it. */
  dismissedByName: string | null;
  dismissalReason: string | null;
}

export const reviewSchema = new EntitySchema<ReviewRow>({
  name: 'review',
  tableName: 'reviews',
  columns: {
    id: { type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text' },
    round: { type: 'integer' },
    authorId: { name: 'author_id', type: 'text', nullable: true },
    authorName: { name: 'author_name', type: 'text', nullable: true },
    verdict: { type: 'text', nullable: true },
    body: { type: 'text' },
    position: { type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    submittedAt: { name: 'submitted_at', type: 'integer', nullable: true },
    dismissedAt: { name: 'dismissed_at', type: 'integer', nullable: true },
    dismissedBy: { name: 'dismissed_by', type: 'text', nullable: true },
    dismissedByName: { name: 'dismissed_by_name', type: 'text', nullable: true },
    dismissalReason: { name: 'dismissal_reason', type: 'text', nullable: true },
  },
});

/** A thread at lines of a file, at a file, or at the round as a whole. */
export interface ThreadRow {
  id: string;
  issueId: string;
  round: number;
  commitOid: string;
  /** Null for the round as a whole. */
  path: string | null;
  side: ThreadSide | null;
  /** Null for the file as a whole. */
  firstLine: number | null;
  lastLine: number | null;
  /** The lines when the thread was created. */
  quoted: string;
  createdAt: number;
  resolvedAt: number | null;
  resolvedBy: string | null;
  /** Name of the resolver of an imported thread who has no account here. */
  resolvedByName: string | null;
}

export const threadSchema = new EntitySchema<ThreadRow>({
  name: 'reviewThread',
  tableName: 'review_threads',
  columns: {
    id: { type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text' },
    round: { type: 'integer' },
    commitOid: { name: 'commit_oid', type: 'text' },
    path: { type: 'text', nullable: true },
    side: { type: 'text', nullable: true },
    firstLine: { name: 'first_line', type: 'integer', nullable: true },
    lastLine: { name: 'last_line', type: 'integer', nullable: true },
    quoted: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    resolvedAt: { name: 'resolved_at', type: 'integer', nullable: true },
    resolvedBy: { name: 'resolved_by', type: 'text', nullable: true },
    resolvedByName: { name: 'resolved_by_name', type: 'text', nullable: true },
  },
});

/** A comment of a thread; its review determines whether others see it. */
export interface ReviewCommentRow {
  threadId: string;
  position: number;
  reviewId: string;
  authorId: string | null;
  authorName: string | null;
  body: string;
  /** Identifier at its source; null for a comment written here. */
  origin: string | null;
  /** The commit that applied its suggestion. */
  appliedOid: string | null;
  createdAt: number;
  editedAt: number | null;
  deletedAt: number | null;
}

export const reviewCommentSchema = new EntitySchema<ReviewCommentRow>({
  name: 'reviewComment',
  tableName: 'review_comments',
  columns: {
    threadId: { name: 'thread_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    reviewId: { name: 'review_id', type: 'text' },
    authorId: { name: 'author_id', type: 'text', nullable: true },
    authorName: { name: 'author_name', type: 'text', nullable: true },
    body: { type: 'text' },
    origin: { type: 'text', nullable: true },
    appliedOid: { name: 'applied_oid', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    editedAt: { name: 'edited_at', type: 'integer', nullable: true },
    deletedAt: { name: 'deleted_at', type: 'integer', nullable: true },
  },
});

/** Position of a thread in a later round. */
export interface ThreadPositionRow {
  threadId: string;
  round: number;
  state: ThreadState;
  path: string | null;
  firstLine: number | null;
  lastLine: number | null;
}

export const threadPositionSchema = new EntitySchema<ThreadPositionRow>({
  name: 'threadPosition',
  tableName: 'thread_positions',
  columns: {
    threadId: { name: 'thread_id', type: 'text', primary: true },
    round: { type: 'integer', primary: true },
    state: { type: 'text' },
    path: { type: 'text', nullable: true },
    firstLine: { name: 'first_line', type: 'integer', nullable: true },
    lastLine: { name: 'last_line', type: 'integer', nullable: true },
  },
});
