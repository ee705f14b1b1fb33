/**
 * What every source gives: one set of shapes, in which nothing says any more which forge it was. Times are epoch
 * milliseconds, texts are as they were written, and everything is untrusted.
 */

export interface SourcePerson {
  login: string;
  /** Of the account there; empty where it is not known. */
  id: string;
  name: string;
  /** An address that the source has verified and shows; empty for none. */
  email: string;
  url: string;
  /** Nothing but the login is known: what another import has found of the person stays. */
  isNameOnly?: true;
}

/** An attached file. */
export interface SourceFile {
  /** Names it among the files of its repository: the same for each way to write its address. */
  key: string;
  /** Empty where it is not known. */
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

/** An issue, or the talk of a pull request. */
export interface SourceIssue {
  number: number;
  isPull: boolean;
  title: string;
  body: string;
  author: SourcePerson | null;
  isOpen: boolean;
  /** Why it was closed, where the source says so. */
  closeReason: 'completed' | 'not_planned' | 'duplicate' | null;
  labels: string[];
  milestone: string | null;
  assignees: SourcePerson[];
  isLocked: boolean;
  isPinned: boolean;
  createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  /** Null: they have to be asked for. */
  reactions: SourceReaction[] | null;
  /** Attached files that its text need not name. */
  files?: SourceFile[];
}

export interface SourceComment {
  /** What names it there. */
  id: string;
  /** Of its issue. */
  number: number;
  author: SourcePerson | null;
  body: string;
  createdAt: number;
  updatedAt: number;
  reactions: SourceReaction[] | null;
  files?: SourceFile[];
}

/** What a push to a pull request made of it. */
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
  /** Whether the branch is one of the repository. */
  isOwnBranch: boolean;
  baseBranch: string;
  /** Where the two had parted, or the tip of the base branch; null where it is not known. */
  baseOid: string | null;
  isDraft: boolean;
  maintainersMayPush: boolean;
  mergedAt: number | null;
  mergedBy: SourcePerson | null;
  mergedOid: string | null;
  requested: SourcePerson[];
  /** Where the source keeps them, the oldest first; else the commits that were reviewed tell. */
  rounds?: SourcePullRound[];
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

/** A comment at lines of a file. */
export interface SourceReviewComment {
  id: string;
  reviewId: string;
  /** The comment that it answers; null where the place alone says so. */
  inReplyTo: string | null;
  /** What names its discussion, where places do not. */
  thread?: string;
  author: SourcePerson | null;
  body: string;
  path: string;
  commitOid: string | null;
  side: 'OLD' | 'NEW';
  firstLine: number | null;
  lastLine: number | null;
  /** Empty where the source shows none: the lines are read from the commit. */
  hunk: string;
  resolvedBy: SourcePerson | null;
  isResolved: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface SourceRepository {
  name: string;
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
}

export interface SourceRule {
  target: 'branch' | 'tag';
  pattern: string;
  /** Nobody pushes to it. */
  forbidsPushes: boolean;
  /** Where only those with this level push. */
  pushLevel?: 'admin' | null;
  allowsForce: boolean;
  approvals: number;
  dismissesStale: boolean;
  signed: boolean;
  checks: string[];
}

export interface SourceHook {
  url: string;
  events: string[];
  kind: string;
  contentType: string;
  branchFilter: string;
}

/** Rows of a page, and where the next one begins; null at the end. */
export interface SourcePage<Row> {
  rows: Row[];
  next: string | null;
  /** Of a list of one page; null where the server has none. */
  etag?: string | null;
}

/** What changed since a time, or everything. */
export interface SourceQuery {
  /** Of the other server; null for everything. */
  since: number | null;
  /** What the page before gave; null for the first one. */
  cursor: string | null;
  /** Of the whole list, when it was read last: an unchanged one has no rows then. */
  etag?: string | null;
}

/** A repository of another forge. Each method sends requests, and refuses as `SourceClient` does. */
export interface Source {
  describe(): Promise<SourceRepository>;
  labels(): AsyncIterable<SourceLabel[]>;
  milestones(): AsyncIterable<SourceMilestone[]>;
  issues(query: SourceQuery): Promise<SourcePage<SourceIssue>>;
  issue(number: number): Promise<SourceIssue | null>;
  /** All of them: what has changed is asked for one by one. */
  pulls(query: SourceQuery): Promise<SourcePage<SourcePull>>;
  pull(number: number): Promise<SourcePull | null>;
  comments(query: SourceQuery): Promise<SourcePage<SourceComment>>;
  /** Where no list has the comments of all issues. */
  commentsOf?(number: number): Promise<SourceComment[]>;
  reviews(number: number): Promise<{ reviews: SourceReview[]; comments: SourceReviewComment[] }>;
  /** Of an issue, or of one of its comments. */
  reactions(number: number, commentId: string | null): Promise<SourceReaction[]>;
  rules(): Promise<SourceRule[]>;
  hooks(): Promise<SourceHook[]>;
  /** What only a person can bring: names of secrets, people with access. */
  toDo(): Promise<string[]>;
  /** How many there are, for a dry run; null where the source does not say. */
  counts(): Promise<Record<'issues' | 'pulls' | 'releases' | 'labels' | 'milestones', number | null>>;
  /** The number here of the pull request that a ref names; its own where this is left out. */
  numberOfPull?(there: number): Promise<number>;
  /** The address of a person that the source has verified and shows; empty for none. */
  addressOf?(person: Pick<SourcePerson, 'id' | 'login'>): Promise<string>;
  /** Sets it read-only there, with a word about where it went. False where that is not possible. */
  archive(): Promise<boolean>;
  /** How the name of a person becomes that of a placeholder here. */
  readonly host: string;
  /** Patterns of the refs of pull requests there. */
  readonly pullRefs: readonly string[];
  /** How git signs in there. */
  readonly username: string;
}

/** A line of the report that a source finds while it reads. */
export type TellProblem = (item: string, problem: string) => void;
