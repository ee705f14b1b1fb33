/**
 * The common shapes of all sources, independent of the forge. Times are epoch milliseconds, texts are unchanged, and
 * everything is untrusted.
 */

export interface SourcePerson {
  login: string;
  /** Name of the account at the source; empty if unknown. */
  id: string;
  name: string;
  /** An e-mail address that the source has verified and shows; empty for none. */
  email: string;
  url: string;
  /** Whether only the login is known: data from another import is kept. */
  isNameOnly?: true;
}

/** An attached file. */
export interface SourceFile {
  /** Its key among the files of its repository: the same for each form of its URL. */
  key: string;
  /** Empty if unknown. */
  name: string;
}

export interface SourceReaction {
  kind: string;
  person: SourcePerson | null;
}

export interface SourceLabel {
  name: string;
  /** Six hex digits. */
  colour: string;
  description: string;
  isExclusive: boolean;
}

export interface SourceMilestone {
  title: string;
  description: string;
  /** `2026-12-31`. */
  dueOn: string | null;
  closedAt: number | null;
  createdAt: number;
}

/** An issue, or the conversation of a pull request. */
export interface SourceIssue {
  number: number;
  isPull: boolean;
  title: string;
  body: string;
  author: SourcePerson | null;
  isOpen: boolean;
  /** Reason of its closing, if the source has one. */
  closeReason: 'completed' | 'not_planned' | 'duplicate' | null;
  labels: string[];
  milestone: string | null;
  assignees: SourcePerson[];
  isLocked: boolean;
  isPinned: boolean;
  createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  /** Null if they must be requested. */
  reactions: SourceReaction[] | null;
  /** Attached files that its text need not reference. */
  files?: SourceFile[];
  /** Its due date, `2026-12-31`, if it has one. */
  dueOn?: string;
  /** The branch or tag that it is about, if it has one. */
  ref?: string;
}

/** Time that was spent on an issue. */
export interface SourceTime {
  /** Its key at the source. */
  id: string;
  /** Number of its issue. */
  number: number;
  person: SourcePerson | null;
  seconds: number;
  createdAt: number;
}

export interface SourceComment {
  /** Its key at the source. */
  id: string;
  /** Number of its issue. */
  number: number;
  author: SourcePerson | null;
  body: string;
  createdAt: number;
  updatedAt: number;
  reactions: SourceReaction[] | null;
  files?: SourceFile[];
}

/** State of a pull request after a push to it. */
export interface SourcePullRound {
  headOid: string;
  baseOid: string | null;
  createdAt: number;
}

/** The code of a pull request. */
export interface SourcePull {
  number: number;
  headOid: string;
  headBranch: string | null;
  /** Whether the branch is in the repository itself. */
  isOwnBranch: boolean;
  baseBranch: string;
  /** The merge base, or the tip of the base branch; null if unknown. */
  baseOid: string | null;
  isDraft: boolean;
  maintainersMayPush: boolean;
  mergedAt: number | null;
  mergedBy: SourcePerson | null;
  mergedOid: string | null;
  requested: SourcePerson[];
  /** Whether it is from a list that leaves out what the pull request itself has, which is then requested. */
  isPart?: true;
  /** If the source stores them, oldest first; otherwise derived from the reviewed commits. */
  rounds?: SourcePullRound[];
}

export interface SourceReviews {
  reviews: SourceReview[];
  comments: SourceReviewComment[];
  /** Logins of those who have reviewed since they were asked last, if the pull request still lists them as asked. */
  answered?: string[];
}

export interface SourceReview {
  id: string;
  author: SourcePerson | null;
  verdict: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES';
  body: string;
  commitOid: string | null;
  isDismissed: boolean;
  submittedAt: number;
}

/** A comment on lines of a file. */
export interface SourceReviewComment {
  id: string;
  reviewId: string;
  /** The comment that it replies to; null if only the position tells. */
  inReplyTo: string | null;
  /** Key of its discussion, if positions do not identify it. */
  thread?: string;
  author: SourcePerson | null;
  body: string;
  path: string;
  commitOid: string | null;
  side: 'OLD' | 'NEW';
  firstLine: number | null;
  lastLine: number | null;
  /** Empty if the source shows none: the lines are read from the commit. */
  hunk: string;
  resolvedBy: SourcePerson | null;
  isResolved: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface SourceRepository {
  name: string;
  /** `owner/name` as it is now, for GitLab including all groups: it differs after a rename. Missing if unknown. */
  project?: string;
  description: string;
  website: string;
  defaultBranch: string | null;
  isPrivate: boolean;
  isArchived: boolean;
  isEmpty: boolean;
  topics: string[];
  hasWiki: boolean;
  cloneUrl: string;
  url: string;
  /** Addresses of its own picture, most likely first; empty for none, missing if the source has no such pictures. */
  pictures?: string[];
}

/** Those whom a rule names. Teams are those of the owning organisation. */
export interface SourceNamed {
  people: SourcePerson[];
  teams: string[];
  deployKeys?: boolean;
}

export interface SourceRule {
  target: 'branch' | 'tag';
  pattern: string;
  /** Whether nobody may push to it. */
  forbidsPushes: boolean;
  /** Whether only users with this level may push. */
  pushLevel?: 'admin' | null;
  /** The only ones who may push and create matching branches; missing or null for all with write access. */
  pushers?: SourceNamed | null;
  allowsForce: boolean;
  /** The only ones who may force-push where it is allowed. */
  forcers?: SourceNamed | null;
  /** The only ones who may merge. */
  mergers?: SourceNamed | null;
  approvals: number;
  /** Whose approvals alone count; missing or null for everyone's. */
  approvers?: SourceNamed | null;
  dismissesStale: boolean;
  signed: boolean;
  checks: string[];
}

export interface SourceHook {
  /** Key at the source, if it has one. */
  id?: string;
  url: string;
  events: string[];
  kind: string;
  contentType: string;
  branchFilter: string;
}

/** What a repository has beside its content. */
export interface SourceExtras {
  variables: { name: string; value: string }[];
  /** Names of secrets: no forge shows their values. */
  secrets: string[];
  collaborators: { person: SourcePerson; role: 'read' | 'write' | 'admin' }[];
  deployKeys: { title: string; line: string; access: 'read' | 'write' }[];
  /** Names of packages, whose files no import transfers. */
  packages: string[];
}

/** Users who follow a repository. */
interface SourceFans {
  stars: SourcePerson[];
  watchers: SourcePerson[];
}

/** Rows of a page, and the cursor of the next one; null at the end. */
export interface SourcePage<Row> {
  rows: Row[];
  next: string | null;
  /** ETag of a list of one page; null if the server sends none. */
  etag?: string | null;
  /** Set if rows are missing that the source may have: what is not in such a list counts as unknown, not as deleted. */
  isPartial?: boolean;
  /** Set if the cursor had expired: these rows are the first ones of the list again. */
  isBegunAgain?: boolean;
}

/** Selects changes since a time, or everything. */
export interface SourceQuery {
  /** Time of the other server; null for everything. */
  since: number | null;
  /** Cursor from the previous page; null for the first one. */
  cursor: string | null;
  /** ETag of the whole list at its last reading: an unchanged list returns no rows. */
  etag?: string | null;
}

/** A repository of another forge. Each method sends requests, and refuses as `SourceClient` does. */
export interface Source {
  describe(): Promise<SourceRepository>;
  labels(): AsyncIterable<SourceLabel[]>;
  milestones(): AsyncIterable<SourceMilestone[]>;
  issues(query: SourceQuery): Promise<SourcePage<SourceIssue>>;
  issue(number: number): Promise<SourceIssue | null>;
  /** All of them: changed ones are requested one by one. */
  pulls(query: SourceQuery): Promise<SourcePage<SourcePull>>;
  pull(number: number): Promise<SourcePull | null>;
  comments(query: SourceQuery): Promise<SourcePage<SourceComment>>;
  /** If no list has the comments of all issues. */
  commentsOf?(number: number): Promise<SourceComment[]>;
  reviews(number: number): Promise<SourceReviews>;
  /** On an issue, or on one of its comments. */
  reactions(number: number, commentId: string | null): Promise<SourceReaction[]>;
  rules(): Promise<SourceRule[]>;
  hooks(): Promise<SourceHook[]>;
  /** Items that need manual steps, beside `extras`. */
  toDo(): Promise<string[]>;
  /** If the source has them. */
  extras?(): Promise<SourceExtras>;
  fans?(): Promise<SourceFans>;
  /**
   * The time that was spent on issues, if the source has such a list.
   * @returns also whether it has the times of all people
   */
  times?(query: SourceQuery): Promise<SourcePage<SourceTime> & { isWhole: boolean }>;
  /** Their number, for a dry run; null if the source does not give it. */
  counts(): Promise<Record<'issues' | 'pulls' | 'releases' | 'labels' | 'milestones', number | null>>;
  /** The number here of the pull request of a ref; its own number if omitted. */
  numberOfPull?(there: number): Promise<number>;
  /** The e-mail address of a user that the source has verified and shows; empty for none. */
  addressOf?(person: Pick<SourcePerson, 'id' | 'login'>): Promise<string>;
  /** Makes a webhook that calls a URL after each change. @returns its key there */
  addHook?(url: string): Promise<string | null>;
  /** One that is gone already counts as removed. */
  removeHook?(id: string): Promise<void>;
  /** Makes the source repository read-only, with a note about its new location. False if that is not possible. */
  archive(): Promise<boolean>;
  /** Maps the name of a user to a placeholder here. */
  readonly host: string;
  /** Patterns of the refs of pull requests at the source. */
  readonly pullRefs: readonly string[];
  /** Credentials of git for the source. */
  readonly username: string;
}

/** A line of the report from a source while it is read. */
export type TellProblem = (item: string, problem: string) => void;
