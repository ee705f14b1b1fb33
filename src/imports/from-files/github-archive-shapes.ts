import { flagOf, idOf, listOf, numberOf, objectOf, oidOf, textOf, timeOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import type {
  SourceComment,
  SourceHook,
  SourceIssue,
  SourcePerson,
  SourcePull,
  SourceReaction,
  SourceReview,
  SourceReviewComment,
  SourceRule,
} from '../sources/source.ts';
import { lastLineOf } from './dump-shapes.ts';

/** Rows of GitHub's migration archives. They reference each other, and users, by page URLs. */

/** Names of the referenced rows, by URL. */
export interface ArchiveNames {
  /** Display names of users by login. */
  people: ReadonlyMap<string, string>;
  /** Titles of milestones by URL. */
  milestones: ReadonlyMap<string, string>;
}

/** `https://github.com/alice`, `https://github.com/apps/robot`; null for none and for a deleted account. */
export function readPerson(address: unknown, { people }: ArchiveNames): SourcePerson | null {
  const segments = (URL.parse(textOf(address))?.pathname ?? '').split('/').filter(Boolean);
  const last = segments.at(-1) ?? '';
  if (segments.length > 2 || !/^[\w-]{1,100}(?:\[bot\])?$/.test(last) || last === 'ghost') return null;
  const login = segments.length === 2 && !last.endsWith('[bot]') ? `${last}[bot]` : last;
  return { login, id: '', name: people.get(login) ?? '', email: '', url: '' };
}

const peopleOf = (value: unknown, names: ArchiveNames): SourcePerson[] =>
  (Array.isArray(value) ? value : []).flatMap((one) => readPerson(one, names) ?? []);

/** The number at the end of `…/issues/7` and `…/pull/7`; null for any other URL. */
const numberAt = (address: unknown): number | null =>
  numberOf(Number(/\/(?:issues|pull)\/(\d{1,10})$/.exec(textOf(address))?.[1] ?? 0));

/** The number at the end of an anchor: `#issuecomment-7`, `#discussion_r7`, `#pullrequestreview-7`. */
const idAt = (address: unknown): string => /#[a-z_-]*?(\d{1,19})$/.exec(textOf(address))?.[1] ?? '';

/** The path of `tarball://root/attachments/…` in the archive; null for any other URL. */
export const fileAt = (address: unknown): string | null =>
  /^tarball:\/\/root\/([^?#]{1,1000})$/.exec(textOf(address))?.[1] ?? null;

const reactionNames: Readonly<Record<string, string>> = {
  thinking_face: 'confused',
  tada: 'hooray',
  smile: 'laugh',
  thumbsup: '+1',
  thumbsdown: '-1',
};

const reactionsOf = (row: Json, names: ArchiveNames): SourceReaction[] =>
  listOf(row['reactions']).map((one) => {
    const kind = textOf(one['content']);
    return { kind: reactionNames[kind] ?? kind, person: readPerson(one['user'], names) };
  });

/** The state of an issue according to its events. */
export interface IssueEvents {
  isLocked: boolean;
  isPinned: boolean;
  closeReason: SourceIssue['closeReason'];
  merged: { by: SourcePerson | null; oid: string | null } | null;
}

/** Rows of `issue_events`, by number, in chronological order. */
export function foldEvent(known: Map<number, IssueEvents>, row: Json, names: ArchiveNames): void {
  const number = numberAt(row['issue']) ?? numberAt(row['pull_request']);
  const event = textOf(row['event']);
  if (number === null || !/^(?:un)?(?:locked|pinned)$|^merged$|^closed$/.test(event)) return;
  const before = known.get(number) ?? { isLocked: false, isPinned: false, closeReason: null, merged: null };
  if (event.endsWith('locked')) before.isLocked = event === 'locked';
  if (event.endsWith('pinned')) before.isPinned = event === 'pinned';
  if (event === 'closed') before.closeReason = textOf(row['state_reason']) === 'not_planned' ? 'not_planned' : null;
  if (event === 'merged') before.merged = { by: readPerson(row['actor'], names), oid: oidOf(row['commit_id']) };
  known.set(number, before);
}

/** Labels are URLs, or rows of their own. */
function labelAt(value: unknown): string {
  const address = textOf(value);
  if (address === '') return textOf(objectOf(value)['name']);
  const name = address.slice(address.lastIndexOf('/labels/') + '/labels/'.length);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** An issue, or the conversation of a pull request. Null for a row without a number. */
export function readIssue(
  row: Json,
  isPull: boolean,
  names: ArchiveNames,
  events: ReadonlyMap<number, IssueEvents>,
): SourceIssue | null {
  const number = numberAt(row['url']);
  if (number === null) return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  const closedAt = timeOf(row['closed_at']) ?? timeOf(row['merged_at']);
  const event = events.get(number);
  return {
    number,
    isPull,
    title: textOf(row['title']),
    body: textOf(row['body']),
    author: readPerson(row['user'], names),
    isOpen: closedAt === null,
    closeReason: closedAt === null ? null : (event?.closeReason ?? null),
    labels: (Array.isArray(row['labels']) ? row['labels'] : []).map(labelAt).filter(Boolean),
    milestone: names.milestones.get(textOf(row['milestone'])) ?? null,
    assignees: peopleOf(row['assignees'], names),
    isLocked: event?.isLocked ?? false,
    isPinned: event?.isPinned ?? false,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? closedAt ?? createdAt,
    closedAt,
    reactions: reactionsOf(row, names),
  };
}

/** Null for a row without an issue. */
export function readComment(row: Json, names: ArchiveNames): { isPull: boolean; comment: SourceComment } | null {
  const isPull = textOf(row['pull_request']) !== '';
  const number = numberAt(isPull ? row['pull_request'] : row['issue']);
  const id = idAt(row['url']);
  if (number === null || id === '') return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  const comment = {
    id,
    number,
    author: readPerson(row['user'], names),
    body: textOf(row['body']),
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
    reactions: reactionsOf(row, names),
  };
  return { isPull, comment };
}

/** Null for a row without a number or a head. */
export function readPull(row: Json, names: ArchiveNames, events: ReadonlyMap<number, IssueEvents>): SourcePull | null {
  const number = numberAt(row['url']);
  const [head, base] = [objectOf(row['head']), objectOf(row['base'])];
  const headOid = oidOf(head['sha']);
  if (number === null || headOid === null) return null;
  const mergedAt = timeOf(row['merged_at']);
  const merged = events.get(number)?.merged ?? null;
  const from = textOf(head['repo']);
  return {
    number,
    headOid,
    headBranch: textOf(head['ref']) || null,
    isOwnBranch: from !== '' && from === textOf(base['repo']),
    baseBranch: textOf(base['ref']),
    baseOid: oidOf(base['sha']),
    isDraft: flagOf(row['work_in_progress']) || flagOf(row['draft']),
    maintainersMayPush: false,
    mergedAt,
    mergedBy: mergedAt === null ? null : (merged?.by ?? null),
    mergedOid: mergedAt === null ? null : (oidOf(row['merge_commit_sha']) ?? merged?.oid ?? null),
    requested: listOf(row['review_requests']).flatMap((one) => readPerson(one['reviewer'], names) ?? []),
  };
}

/** GitHub's numbers for review states, without that of drafts. */
const verdicts: Readonly<Record<number, SourceReview['verdict']>> = {
  1: 'COMMENT',
  30: 'REQUEST_CHANGES',
  40: 'APPROVE',
  50: 'COMMENT',
};
const dismissed = 50;

/** Null for drafts. */
export function readReview(row: Json, names: ArchiveNames): { number: number; review: SourceReview } | null {
  const number = numberAt(row['pull_request']);
  const state = Number(row['state']);
  const verdict = verdicts[state];
  const id = idAt(row['url']);
  if (number === null || verdict === undefined || id === '') return null;
  const review = {
    id,
    author: readPerson(row['user'], names),
    verdict,
    body: textOf(row['body']),
    commitOid: oidOf(row['head_sha']),
    isDismissed: state === dismissed,
    submittedAt: timeOf(row['submitted_at']) ?? timeOf(row['created_at']) ?? 0,
  };
  return { number, review };
}

/** A thread has the position of its comments and the user who resolved it. */
export interface ReviewThread {
  row: Json;
  resolvedBy: SourcePerson | null;
  isResolved: boolean;
}

export const readThread = (row: Json, names: ArchiveNames): ReviewThread => ({
  row: {
    line: row['line'],
    original_line: row['original_line'],
    start_line: row['start_line'],
    original_start_line: row['original_start_line'],
    side: row['side'],
    subject_type: row['subject_type'],
  },
  resolvedBy: readPerson(row['resolver'], names),
  isResolved: timeOf(row['resolved_at']) !== null,
});

/** Null for drafts, and for a row without a pull request or file. */
export function readReviewComment(
  row: Json,
  names: ArchiveNames,
  threads: ReadonlyMap<string, ReviewThread>,
): { number: number; note: SourceReviewComment } | null {
  const number = numberAt(row['pull_request']);
  const [id, path] = [idAt(row['url']), textOf(row['path'])];
  if (number === null || id === '' || path === '' || row['state'] === 0) return null;
  const address = textOf(row['pull_request_review_thread']);
  const thread = threads.get(address) ?? null;
  const place = { ...thread?.row, ...Object.fromEntries(Object.entries(row).filter(([, value]) => value != null)) };
  const hunk = textOf(row['diff_hunk']);
  // Older archives have only positions in the hunk, which ends at the line.
  const found = lastLineOf(hunk);
  const given = numberOf(place['original_line']) ?? numberOf(place['line']);
  const lastLine = textOf(place['subject_type']) === 'file' ? null : (given ?? (Math.abs(found) || null));
  const firstLine = numberOf(place['original_start_line']) ?? numberOf(place['start_line']) ?? lastLine;
  const side = textOf(place['side']).toUpperCase();
  const createdAt = timeOf(row['created_at']) ?? 0;
  const note = {
    id,
    reviewId: idAt(row['pull_request_review']),
    inReplyTo: idAt(row['in_reply_to']) || null,
    ...(address !== '' && { thread: address.slice(-200) }),
    author: readPerson(row['user'], names),
    body: textOf(row['body']),
    path,
    commitOid: oidOf(row['original_commit_id']) ?? oidOf(row['commit_id']),
    side: side === 'LEFT' || (side === '' && given === null && found < 0) ? ('OLD' as const) : ('NEW' as const),
    firstLine: lastLine === null ? null : Math.min(firstLine ?? lastLine, lastLine),
    lastLine,
    hunk,
    resolvedBy: thread?.resolvedBy ?? null,
    isResolved: thread?.isResolved ?? false,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
  };
  return { number, note };
}

const isOn = (level: unknown): boolean => !['', 'off'].includes(textOf(level));

export const readRule = (row: Json): SourceRule => ({
  target: 'branch',
  pattern: textOf(row['name']),
  forbidsPushes: isOn(row['pull_request_reviews_enforcement_level']),
  allowsForce: textOf(row['block_force_pushes_enforcement_level']) === 'off',
  approvals:
    numberOf(row['required_approving_review_count']) ?? (isOn(row['pull_request_reviews_enforcement_level']) ? 1 : 0),
  dismissesStale: flagOf(row['dismiss_stale_reviews_on_push']),
  signed: isOn(row['signature_requirement_enforcement_level']),
  checks: isOn(row['required_status_checks_enforcement_level'])
    ? (Array.isArray(row['required_status_checks']) ? row['required_status_checks'] : []).map(
        (one) => textOf(one) || textOf(objectOf(one)['context']),
      )
    : [],
});

export const readHook = (row: Json): SourceHook => ({
  url: textOf(row['payload_url']),
  events: (Array.isArray(row['event_types']) ? row['event_types'] : []).map(textOf),
  kind: 'gitea',
  contentType: textOf(row['content_type']),
  branchFilter: '',
});

export const attachmentKey = (row: Json): string => textOf(row['url']) || idOf(row['asset_url']);
