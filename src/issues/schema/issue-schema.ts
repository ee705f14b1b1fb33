import { EntitySchema } from 'typeorm';
import type { CiApproval } from '../../access/index.ts';

export type IssueState = 'OPEN' | 'CLOSED' | 'MERGED';
export type CloseReason = 'completed' | 'not_planned' | 'duplicate';
export type IssueKind = 'ISSUE' | 'PULL';
type IssueAuthorPolicy = 'nobody' | 'members' | 'anyone';

/** A row of `issues`: an issue, or the conversation of a pull request. Times are epoch milliseconds. */
export interface Issue {
  id: string;
  repositoryId: string;
  number: number;
  kind: IssueKind;
  title: string;
  /** UUID of the author; null for a remote or imported author, and once the account is deleted. */
  authorId: string | null;
  remoteAuthorId: string | null;
  /** The author's name if there is no account: an imported author, the command line, CI. */
  authorName: string | null;
  state: IssueState;
  closeReason: CloseReason | null;
  milestoneId: string | null;
  /** A date: 2026-11-30. */
  dueOn: string | null;
  /** A related branch or tag; empty for none. */
  ref: string;
  lockedAt: number | null;
  pinnedAt: number | null;
  /** Set while held until a member approves its author. */
  heldAt: number | null;
  lastPosition: number;
  commentCount: number;
  origin: string | null;
  createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  /** Set while in the trash. */
  deletedAt: number | null;
  deletedBy: string | null;
}

export const issueSchema = new EntitySchema<Issue>({
  name: 'issue',
  tableName: 'issues',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    number: { type: 'integer' },
    kind: { type: 'text' },
    title: { type: 'text' },
    authorId: { name: 'author_id', type: 'text', nullable: true },
    remoteAuthorId: { name: 'remote_author_id', type: 'text', nullable: true },
    authorName: { name: 'author_name', type: 'text', nullable: true },
    state: { type: 'text' },
    closeReason: { name: 'close_reason', type: 'text', nullable: true },
    milestoneId: { name: 'milestone_id', type: 'text', nullable: true },
    dueOn: { name: 'due_on', type: 'text', nullable: true },
    ref: { type: 'text' },
    lockedAt: { name: 'locked_at', type: 'integer', nullable: true },
    pinnedAt: { name: 'pinned_at', type: 'integer', nullable: true },
    heldAt: { name: 'held_at', type: 'integer', nullable: true },
    lastPosition: { name: 'last_position', type: 'integer' },
    commentCount: { name: 'comment_count', type: 'integer' },
    origin: { type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
    closedAt: { name: 'closed_at', type: 'integer', nullable: true },
    deletedAt: { name: 'deleted_at', type: 'integer', nullable: true },
    deletedBy: { name: 'deleted_by', type: 'text', nullable: true },
  },
});

/** The last allocated number of a repository, and counts maintained by triggers. */
export interface IssueNumbers {
  repositoryId: string;
  last: number;
  openIssues: number;
  closedIssues: number;
  openPulls: number;
  closedPulls: number;
}

export const issueNumbersSchema = new EntitySchema<IssueNumbers>({
  name: 'issueNumbers',
  tableName: 'issue_numbers',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    last: { type: 'integer' },
    openIssues: { name: 'open_issues', type: 'integer' },
    closedIssues: { name: 'closed_issues', type: 'integer' },
    openPulls: { name: 'open_pulls', type: 'integer' },
    closedPulls: { name: 'closed_pulls', type: 'integer' },
  },
});

/** Issue settings of a repository; defaults apply without a row. */
export interface IssueSettings {
  repositoryId: string;
  /** Who may open issues and comment. */
  issuesFrom: IssueAuthorPolicy;
  /** Whether the first contribution of a user is held for approval. */
  holdsNewcomers: boolean;
  /** Who may open pull requests and add to them. */
  pullsFrom: IssueAuthorPolicy;
  /** Whether merging deletes the head branch by default. */
  deletesMergedBranches: boolean;
  /** Whose pull requests wait for approval before their workflows run. */
  ciApproval: CiApproval;
}

export const issueSettingsSchema = new EntitySchema<IssueSettings>({
  name: 'issueSettings',
  tableName: 'issue_settings',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    issuesFrom: { name: 'issues_from', type: 'text' },
    holdsNewcomers: { name: 'holds_newcomers', type: 'boolean' },
    pullsFrom: { name: 'pulls_from', type: 'text' },
    deletesMergedBranches: { name: 'deletes_merged_branches', type: 'boolean' },
    ciApproval: { name: 'ci_approval', type: 'text' },
  },
});

/** Redirect from the number of an issue that moved to another repository. */
interface MovedIssueRow {
  repositoryId: string;
  number: number;
  issueId: string;
  movedAt: number;
}

export const movedIssueSchema = new EntitySchema<MovedIssueRow>({
  name: 'movedIssue',
  tableName: 'moved_issues',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    number: { type: 'integer', primary: true },
    issueId: { name: 'issue_id', type: 'text' },
    movedAt: { name: 'moved_at', type: 'integer' },
  },
});

/** Issue number for clients of Gitea's API; assigned by a trigger. */
interface IssueSerialRow {
  serial: number;
  issueId: string;
}

export const issueSerialSchema = new EntitySchema<IssueSerialRow>({
  name: 'issueSerial',
  tableName: 'issue_serials',
  columns: {
    serial: { type: 'integer', primary: true },
    issueId: { name: 'issue_id', type: 'text' },
  },
});
