import { colourOf, dayOf, flagOf, idOf, numberOf, objectOf, oidOf, projectOf, textOf, timeOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type {
  SourceComment,
  SourceIssue,
  SourceLabel,
  SourceMilestone,
  SourcePerson,
  SourcePull,
  SourceReaction,
  SourceRepository,
  SourceReview,
  SourceReviewComment,
} from '../source.ts';

/** Null for a deleted account. */
export function readPerson(value: unknown): SourcePerson | null {
  const user = objectOf(value);
  const login = textOf(user['login']);
  if (login === '' || login === 'ghost') return null;
  const { id, name, email, html_url: url } = user;
  return { login, id: idOf(id), name: textOf(name), email: textOf(email), url: textOf(url) };
}

const peopleOf = (value: unknown): SourcePerson[] =>
  (Array.isArray(value) ? value : []).flatMap((one) => readPerson(one) ?? []);

export function readRepository(value: unknown): SourceRepository {
  const row = objectOf(value);
  return {
    name: textOf(row['name']),
    ...projectOf(row['full_name']),
    description: textOf(row['description']),
    website: textOf(row['homepage']),
    defaultBranch: textOf(row['default_branch']) || null,
    isPrivate: row['private'] !== false,
    isArchived: flagOf(row['archived']),
    isEmpty: row['size'] === 0,
    topics: Array.isArray(row['topics']) ? row['topics'].map(textOf).filter(Boolean) : [],
    hasWiki: flagOf(row['has_wiki']),
    cloneUrl: textOf(row['clone_url']),
    url: textOf(row['html_url']),
  };
}

export const readLabel = (row: Json): SourceLabel => ({
  name: textOf(row['name']),
  colour: colourOf(row['color']),
  description: textOf(row['description']),
  isExclusive: false,
});

export function readMilestone(row: Json): SourceMilestone {
  return {
    title: textOf(row['title']),
    description: textOf(row['description']),
    dueOn: dayOf(row['due_on']),
    closedAt: textOf(row['state']) === 'closed' ? (timeOf(row['closed_at']) ?? timeOf(row['updated_at']) ?? 0) : null,
    createdAt: timeOf(row['created_at']) ?? 0,
  };
}

const closeReasons: Readonly<Record<string, SourceIssue['closeReason']>> = {
  completed: 'completed',
  not_planned: 'not_planned',
  duplicate: 'duplicate',
};

/** The list contains their number: without any, no request is needed. */
const reactionsOf = (row: Json): SourceReaction[] | null =>
  objectOf(row['reactions'])['total_count'] === 0 ? [] : null;

/** Null for a row without a number. */
export function readIssue(row: Json): SourceIssue | null {
  const number = numberOf(row['number']);
  if (number === null) return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  return {
    number,
    isPull: row['pull_request'] != null,
    title: textOf(row['title']),
    body: textOf(row['body']),
    author: readPerson(row['user']),
    isOpen: textOf(row['state']) !== 'closed',
    closeReason: closeReasons[textOf(row['state_reason'])] ?? null,
    // A label was formerly a plain text.
    labels: (Array.isArray(row['labels']) ? row['labels'] : []).map(
      (label) => textOf(label) || textOf(objectOf(label)['name']),
    ),
    milestone: textOf(objectOf(row['milestone'])['title']) || null,
    assignees: peopleOf(row['assignees']),
    isLocked: flagOf(row['locked']),
    isPinned: false,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
    closedAt: timeOf(row['closed_at']),
    reactions: reactionsOf(row),
  };
}

/** Null for a row without an issue. */
export function readComment(row: Json): SourceComment | null {
  const number = numberOf(Number(/\/issues\/(\d{1,10})$/.exec(textOf(row['issue_url']))?.[1] ?? 0));
  const id = idOf(row['id']);
  if (number === null || id === '') return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  const updatedAt = timeOf(row['updated_at']) ?? createdAt;
  const author = readPerson(row['user']);
  return { id, number, author, body: textOf(row['body']), createdAt, updatedAt, reactions: reactionsOf(row) };
}

/** Null for a row without a number or a head. */
export function readPull(row: Json): SourcePull | null {
  const number = numberOf(row['number']);
  const [head, base] = [objectOf(row['head']), objectOf(row['base'])];
  const headOid = oidOf(head['sha']);
  if (number === null || headOid === null) return null;
  const [from, into] = [idOf(objectOf(head['repo'])['id']), idOf(objectOf(base['repo'])['id'])];
  const mergedAt = timeOf(row['merged_at']);
  return {
    number,
    headOid,
    headBranch: textOf(head['ref']) || null,
    isOwnBranch: from !== '' && from === into,
    baseBranch: textOf(base['ref']),
    baseOid: oidOf(base['sha']),
    isDraft: flagOf(row['draft']),
    maintainersMayPush: flagOf(row['maintainer_can_modify']),
    mergedAt,
    mergedBy: mergedAt === null ? null : readPerson(row['merged_by']),
    mergedOid: mergedAt === null ? null : oidOf(row['merge_commit_sha']),
    requested: peopleOf(row['requested_reviewers']),
  };
}

/**
 * A row of a list, where who merged it and whether maintainers may push are missing:
 * https://docs.github.com/en/rest/pulls/pulls
 */
export function readListedPull(row: Json): SourcePull | null {
  const pull = readPull(row);
  if (pull === null) return null;
  const isWhole = pull.mergedAt === null && (pull.isOwnBranch || textOf(row['state']) === 'closed');
  return isWhole ? pull : { ...pull, isPart: true };
}

const verdicts: Readonly<Record<string, SourceReview['verdict']>> = {
  APPROVED: 'APPROVE',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
  DISMISSED: 'COMMENT',
};

/** Null for drafts. */
export function readReview(row: Json): SourceReview | null {
  const state = textOf(row['state']);
  const verdict = verdicts[state];
  const id = idOf(row['id']);
  if (verdict === undefined || id === '') return null;
  return {
    id,
    author: readPerson(row['user']),
    verdict,
    body: textOf(row['body']),
    commitOid: oidOf(row['commit_id']),
    isDismissed: state === 'DISMISSED',
    submittedAt: timeOf(row['submitted_at']) ?? 0,
  };
}

/** Its lines are those of the reviewed commit: the newer line fields move with pushes. */
export function readReviewComment(row: Json): SourceReviewComment | null {
  const [id, path] = [idOf(row['id']), textOf(row['path'])];
  if (id === '' || path === '') return null;
  const lastLine = numberOf(row['original_line']) ?? numberOf(row['line']);
  const firstLine = numberOf(row['original_start_line']) ?? numberOf(row['start_line']) ?? lastLine;
  const isFile = textOf(row['subject_type']) === 'file' || lastLine === null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  return {
    id,
    reviewId: idOf(row['pull_request_review_id']),
    inReplyTo: idOf(row['in_reply_to_id']) || null,
    author: readPerson(row['user']),
    body: textOf(row['body']),
    path,
    commitOid: oidOf(row['original_commit_id']) ?? oidOf(row['commit_id']),
    side: textOf(row['side']) === 'LEFT' ? 'OLD' : 'NEW',
    firstLine: isFile ? null : Math.min(firstLine ?? lastLine, lastLine),
    lastLine: isFile ? null : lastLine,
    hunk: textOf(row['diff_hunk']),
    resolvedBy: null,
    isResolved: false,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
  };
}

export const readReaction = (row: Json): SourceReaction => ({
  kind: textOf(row['content']),
  person: readPerson(row['user']),
});
