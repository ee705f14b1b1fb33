import {
  colourOf,
  dayOf,
  flagOf,
  idOf,
  listOf,
  numberOf,
  objectOf,
  oidOf,
  textOf,
  timeOf,
} from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import type {
  SourceComment,
  SourceIssue,
  SourceLabel,
  SourceMilestone,
  SourcePerson,
  SourcePull,
  SourceReaction,
  SourceReview,
  SourceReviewComment,
} from '../sources/source.ts';

/** Items of a folder of Gitea's and Forgejo's `dump-repo`. */

/** Names that stand for a deleted account. */
const ghosts = new Set(['', 'ghost']);

/** Null for a deleted account. E-mail addresses in a file are not trusted: its author could write any. */
export function readName(name: unknown): SourcePerson | null {
  const login = textOf(name);
  return ghosts.has(login.toLowerCase()) ? null : { login, id: '', name: '', email: '', url: '', isNameOnly: true };
}

const reactionsOf = (row: Json): SourceReaction[] =>
  listOf(row['reactions']).map((one) => ({ kind: textOf(one['content']), person: readName(one['user_name']) }));

export const readLabel = (row: Json): SourceLabel => ({
  name: textOf(row['name']),
  colour: colourOf(row['color']),
  description: textOf(row['description']),
  isExclusive: flagOf(row['exclusive']),
});

export function readMilestone(row: Json): SourceMilestone {
  const closedAt = timeOf(row['closed']) ?? timeOf(row['updated']) ?? 0;
  return {
    title: textOf(row['title']),
    description: textOf(row['description']),
    dueOn: timeOf(row['deadline']) === 0 ? null : dayOf(row['deadline']),
    closedAt: textOf(row['state']) === 'closed' ? closedAt : null,
    createdAt: timeOf(row['created']) ?? 0,
  };
}

/** An issue, or the conversation of a pull request. Null for a row without a number. */
export function readIssue(row: Json, isPull: boolean): SourceIssue | null {
  const number = numberOf(row['number']);
  if (number === null) return null;
  const createdAt = timeOf(row['created']) ?? 0;
  const isOpen = textOf(row['state']) !== 'closed';
  return {
    number,
    isPull,
    title: textOf(row['title']),
    body: textOf(row['content']),
    author: readName(row['poster_name']),
    isOpen,
    closeReason: null,
    labels: listOf(row['labels']).map((label) => textOf(label['name'])),
    milestone: textOf(row['milestone']) || null,
    assignees: (Array.isArray(row['assignees']) ? row['assignees'] : []).flatMap((one) => readName(one) ?? []),
    isLocked: flagOf(row['is_locked']),
    isPinned: false,
    createdAt,
    updatedAt: timeOf(row['updated']) ?? createdAt,
    closedAt: isOpen ? null : timeOf(row['closed']),
    reactions: reactionsOf(row),
  };
}

/** Null if it is not a comment: other forges also write changes of titles and labels there. */
export function readComment(row: Json, number: number, at: number): SourceComment | null {
  if (!['', 'comment'].includes(textOf(row['comment_type']))) return null;
  const createdAt = timeOf(row['created']) ?? 0;
  return {
    id: idOf(row['index']) || `at-${at + 1}`,
    number,
    author: readName(row['poster_name']),
    body: textOf(row['content']),
    createdAt,
    updatedAt: timeOf(row['updated']) ?? createdAt,
    reactions: reactionsOf(row),
  };
}

/** Null for a row without a number or a head. */
export function readPull(row: Json): SourcePull | null {
  const number = numberOf(row['number']);
  const [head, base] = [objectOf(row['head']), objectOf(row['base'])];
  const headOid = oidOf(head['sha']);
  if (number === null || headOid === null) return null;
  const isMerged = flagOf(row['merged']);
  const place = (branch: Json): string => `${textOf(branch['owner_name'])}/${textOf(branch['repo_name'])}`;
  return {
    number,
    headOid,
    headBranch: textOf(head['ref']) || null,
    isOwnBranch: place(head) === place(base),
    baseBranch: textOf(base['ref']),
    baseOid: oidOf(base['sha']),
    isDraft: flagOf(row['is_draft']),
    maintainersMayPush: false,
    mergedAt: isMerged ? (timeOf(row['merged_time']) ?? timeOf(row['closed']) ?? 0) : null,
    mergedBy: null,
    mergedOid: isMerged ? oidOf(row['merge_commit_sha']) : null,
    requested: [],
  };
}

const verdicts: Readonly<Record<string, SourceReview['verdict']>> = {
  APPROVED: 'APPROVE',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  REQUEST_CHANGES: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
  COMMENT: 'COMMENT',
};

/** Null for drafts and review requests. */
export function readReview(row: Json): { review: SourceReview; comments: SourceReviewComment[] } | null {
  const verdict = verdicts[textOf(row['state'])];
  const id = idOf(row['id']);
  if (verdict === undefined || id === '') return null;
  const author = readName(row['reviewer_name']);
  const review = {
    id,
    author,
    verdict,
    body: textOf(row['content']),
    commitOid: oidOf(row['commit_id']),
    isDismissed: false,
    submittedAt: timeOf(row['created_at']) ?? 0,
  };
  // Comments have an author id but no name: their author is the reviewer.
  return { review, comments: listOf(row['comments']).flatMap((one) => readReviewComment(one, review) ?? []) };
}

function readReviewComment(row: Json, review: SourceReview): SourceReviewComment | null {
  const path = textOf(row['tree_path']);
  const id = idOf(row['id']);
  if (path === '' || id === '') return null;
  const hunk = textOf(row['diff_hunk']);
  const given = typeof row['line'] === 'number' && Number.isSafeInteger(row['line']) ? row['line'] : 0;
  const line = given === 0 ? lastLineOf(hunk) : given;
  const createdAt = timeOf(row['created_at']) ?? review.submittedAt;
  const answered = idOf(row['in_reply_to']);
  return {
    id,
    reviewId: review.id,
    inReplyTo: answered === '' || answered === '0' ? null : answered,
    author: readName(row['poster_name']) ?? review.author,
    body: textOf(row['content']),
    path,
    commitOid: oidOf(row['commit_id']),
    side: line < 0 ? 'OLD' : 'NEW',
    firstLine: line === 0 ? null : Math.abs(line),
    lastLine: line === 0 ? null : Math.abs(line),
    hunk,
    resolvedBy: null,
    isResolved: false,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
  };
}

/** The line on the new side at which a hunk ends; negative for a removed line, 0 if unknown. */
export function lastLineOf(hunk: string): number {
  const [head = '', ...lines] = hunk.split('\n');
  const [, before, after] = /^@@ -(\d{1,8})(?:,\d+)? \+(\d{1,8})/.exec(head) ?? [];
  if (before === undefined || after === undefined || lines.length === 0) return 0;
  const count = (other: string): number =>
    lines.filter((each) => !each.startsWith(other) && !each.startsWith('\\')).length;
  const isRemoved = lines.at(-1)!.startsWith('-');
  return isRemoved ? -(Number(before) + count('+') - 1) : Number(after) + count('-') - 1;
}
