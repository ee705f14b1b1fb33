import { flagOf, idOf, listOf, numberOf, objectOf, oidOf, textOf, timeOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type { SourceComment, SourceReview, SourceReviewComment } from '../source.ts';
import { readPerson } from './gitlab-shapes.ts';

/** Interval within which notes of one user about one commit form one review. */
const oneReviewMs = 60_000;

export interface Talk {
  comments: SourceComment[];
  reviews: SourceReview[];
  notes: SourceReviewComment[];
  /** Notes that only members of the project can see at the source. */
  hidden: number;
}

interface Note extends SourceReviewComment {
  at: number;
}

/**
 * The conversation of an issue or a merge request, from its discussions: comments, and notes on lines of files. GitLab
 * has no reviews: a user's notes about one commit within a minute become one, and so does each approval.
 * @param number of the issue, which comments reference
 */
export function readDiscussions(discussions: readonly Json[], number: number): Talk {
  const comments: SourceComment[] = [];
  const notes: Note[] = [];
  const verdicts: SourceReview[] = [];
  let hidden = 0;
  for (const discussion of discussions) {
    const thread = textOf(discussion['id']).slice(0, 100);
    let first: Note | null = null;
    for (const row of listOf(discussion['notes'])) {
      const id = idOf(row['id']);
      if (id === '') continue;
      if (flagOf(row['system'])) {
        const verdict = readVerdict(row, id);
        if (verdict !== null) verdicts.push(verdict);
        continue;
      }
      if (flagOf(row['internal']) || flagOf(row['confidential'])) {
        hidden += 1;
        continue;
      }
      const note = readNote(row, id, first);
      if (note === null) comments.push(readComment(row, id, number));
      else {
        notes.push({ ...note, thread });
        first ??= note;
      }
    }
  }
  return { comments, ...groupNotes(notes, verdicts), hidden };
}

function readComment(row: Json, id: string, number: number): SourceComment {
  const createdAt = timeOf(row['created_at']) ?? 0;
  return {
    id,
    number,
    author: readPerson(row['author']),
    body: textOf(row['body']),
    createdAt,
    updatedAt: timeOf(row['last_edited_at']) ?? timeOf(row['updated_at']) ?? createdAt,
    reactions: null,
  };
}

/** Null for a note that is not on a file. A reply has the position of its discussion. */
function readNote(row: Json, id: string, first: Note | null): Note | null {
  const position = objectOf(row['position']);
  const place = first ?? readPlace(position);
  if (place === null) return null;
  const at = timeOf(row['created_at']) ?? 0;
  const isResolved = flagOf(row['resolved']);
  return {
    id,
    reviewId: '',
    inReplyTo: first?.id ?? null,
    author: readPerson(row['author']),
    body: textOf(row['body']),
    path: place.path,
    commitOid: place.commitOid,
    side: place.side,
    firstLine: place.firstLine,
    lastLine: place.lastLine,
    hunk: '',
    resolvedBy: isResolved ? readPerson(row['resolved_by']) : null,
    isResolved,
    createdAt: at,
    // Resolving a note changes this time but not its text.
    updatedAt: timeOf(row['last_edited_at']) ?? (isResolved ? at : (timeOf(row['updated_at']) ?? at)),
    at,
  };
}

type Place = Pick<SourceReviewComment, 'path' | 'commitOid' | 'side' | 'firstLine' | 'lastLine'>;

function readPlace(position: Json): Place | null {
  const [oldLine, newLine] = [numberOf(position['old_line']), numberOf(position['new_line'])];
  const side = newLine === null && oldLine !== null ? 'OLD' : 'NEW';
  const path =
    (side === 'OLD' ? textOf(position['old_path']) : textOf(position['new_path'])) || textOf(position['new_path']);
  if (path === '') return null;
  const lastLine = newLine ?? oldLine;
  const start = objectOf(objectOf(position['line_range'])['start']);
  const begin = numberOf(start[side === 'OLD' ? 'old_line' : 'new_line']);
  return {
    path,
    commitOid: oidOf(position['head_sha']),
    side,
    firstLine: lastLine === null ? null : Math.min(begin ?? lastLine, lastLine),
    lastLine,
  };
}

/** GitLab records approvals as system notes. */
function readVerdict(row: Json, id: string): SourceReview | null {
  const body = textOf(row['body']);
  const isApproval = /^approved this merge request/.test(body);
  if (!isApproval && !/^requested changes/.test(body)) return null;
  return {
    id: `verdict-${id}`,
    author: readPerson(row['author']),
    verdict: isApproval ? 'APPROVE' : 'REQUEST_CHANGES',
    body: '',
    commitOid: null,
    isDismissed: false,
    submittedAt: timeOf(row['created_at']) ?? 0,
  };
}

function groupNotes(notes: readonly Note[], verdicts: readonly SourceReview[]): Pick<Talk, 'reviews' | 'notes'> {
  const reviews: SourceReview[] = [];
  const open = new Map<string, { review: SourceReview; last: number }>();
  const grouped = [...notes].sort((one, other) => one.at - other.at || Number(one.id) - Number(other.id));
  const written = grouped.map(({ at, ...note }): SourceReviewComment => {
    const key = JSON.stringify([note.author?.login ?? null, note.commitOid]);
    const before = open.get(key);
    if (before !== undefined && at - before.last <= oneReviewMs) {
      before.last = at;
      return { ...note, reviewId: before.review.id };
    }
    const review: SourceReview = {
      id: `notes-${note.id}`,
      author: note.author,
      verdict: 'COMMENT',
      body: '',
      commitOid: note.commitOid,
      isDismissed: false,
      submittedAt: at,
    };
    reviews.push(review);
    open.set(key, { review, last: at });
    return { ...note, reviewId: review.id };
  });
  return { reviews: [...reviews, ...verdicts], notes: written };
}

/**
 * Matches reviews with the approvals: a withdrawn approval no longer counts, and one without a note is added.
 * @param approvals the response of `…/approvals`; null if it was unavailable
 */
export function settleApprovals(reviews: readonly SourceReview[], approvals: Json | null, at: number): SourceReview[] {
  if (approvals === null) return [...reviews];
  const approvers = new Map(
    listOf(approvals['approved_by']).flatMap((row) => {
      const person = readPerson(row['user']);
      return person === null ? [] : [[person.login, { person, at: timeOf(row['approved_at']) ?? at }] as const];
    }),
  );
  const settled = reviews.map((review) =>
    review.verdict === 'APPROVE' && !approvers.has(review.author?.login ?? '')
      ? { ...review, isDismissed: true }
      : review,
  );
  const told = new Set(settled.flatMap(({ verdict, author }) => (verdict === 'APPROVE' ? [author?.login] : [])));
  return [
    ...settled,
    ...[...approvers].flatMap(([login, { person, at: submittedAt }]): SourceReview[] =>
      told.has(login)
        ? []
        : [
            {
              id: `approval-${login}`,
              author: person,
              verdict: 'APPROVE',
              body: '',
              commitOid: null,
              isDismissed: false,
              submittedAt,
            },
          ],
    ),
  ];
}
