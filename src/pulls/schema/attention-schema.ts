import { EntitySchema } from 'typeorm';

/** A user asked for a review, by another user or as a code owner. */
export interface ReviewRequestRow {
  issueId: string;
  userId: string;
  reason: 'asked' | 'owner';
  askedBy: string | null;
  askedAt: number;
  answeredAt: number | null;
}

export const reviewRequestSchema = new EntitySchema<ReviewRequestRow>({
  name: 'reviewRequest',
  tableName: 'review_requests',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    reason: { type: 'text' },
    askedBy: { name: 'asked_by', type: 'text', nullable: true },
    askedAt: { name: 'asked_at', type: 'integer' },
    answeredAt: { name: 'answered_at', type: 'integer', nullable: true },
  },
});

/** A team asked for a review; the row is deleted with the role of the team in the repository. */
export interface TeamReviewRequestRow {
  issueId: string;
  teamId: string;
  repositoryId: string;
  reason: 'asked' | 'owner';
  askedBy: string | null;
  askedAt: number;
  answeredAt: number | null;
}

export const teamReviewRequestSchema = new EntitySchema<TeamReviewRequestRow>({
  name: 'teamReviewRequest',
  tableName: 'team_review_requests',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    teamId: { name: 'team_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    reason: { type: 'text' },
    askedBy: { name: 'asked_by', type: 'text', nullable: true },
    askedAt: { name: 'asked_at', type: 'integer' },
    answeredAt: { name: 'answered_at', type: 'integer', nullable: true },
  },
});

/** A row of the view `team_reviewers`: a team member whose answer a pull request waits for. */
interface TeamReviewerRow {
  userId: string;
  issueId: string;
  teamId: string;
  since: number;
}

export const teamReviewerSchema = new EntitySchema<TeamReviewerRow>({
  name: 'teamReviewer',
  tableName: 'team_reviewers',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text', primary: true },
    teamId: { name: 'team_id', type: 'text', primary: true },
    since: { type: 'integer' },
  },
});

/** A user that a pull request waits for. */
export interface AttentionRow {
  issueId: string;
  userId: string;
  reason: string;
  since: number;
}

export const attentionSchema = new EntitySchema<AttentionRow>({
  name: 'attention',
  tableName: 'attention',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    reason: { type: 'text' },
    since: { type: 'integer' },
  },
});

/** A file marked as viewed by a user, identified by its content on both sides. */
export interface ViewedFileRow {
  userId: string;
  issueId: string;
  path: string;
  oldBlob: string;
  newBlob: string;
  round: number;
}

export const viewedFileSchema = new EntitySchema<ViewedFileRow>({
  name: 'viewedFile',
  tableName: 'viewed_files',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text', primary: true },
    path: { type: 'text', primary: true },
    oldBlob: { name: 'old_blob', type: 'text' },
    newBlob: { name: 'new_blob', type: 'text' },
    round: { type: 'integer' },
  },
});
