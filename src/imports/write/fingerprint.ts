import { createHash } from 'node:crypto';
import type {
  SourceComment,
  SourceIssue,
  SourcePerson,
  SourcePull,
  SourceReaction,
  SourceReview,
  SourceReviewComment,
} from '../sources/source.ts';

/**
 * A digest of the source's data of an issue. Ignores the order of sets, which the source's database may change from one
 * response to the next; ignores the merge base, which forges compute in the background and which moves with the base
 * branch: written rounds keep theirs.
 */
export function fingerprintOf(parts: {
  issue: SourceIssue;
  pull: SourcePull | null;
  comments: readonly SourceComment[];
  reviews: readonly SourceReview[];
  notes: readonly SourceReviewComment[];
}): string {
  const { issue, pull, comments, reviews, notes } = parts;
  const said = [
    {
      ...issue,
      labels: issue.labels.toSorted(),
      assignees: sortPeople(issue.assignees),
      reactions: sortReactions(issue.reactions),
    },
    pull && { ...pull, baseOid: null, requested: sortPeople(pull.requested) },
    sortById(comments.map((comment) => ({ ...comment, reactions: sortReactions(comment.reactions) }))),
    sortById(reviews),
    sortById(notes),
  ];
  return createHash('sha256').update(JSON.stringify(said)).digest('base64');
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const sortById = <Row extends { id: string }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((one, other) => compare(one.id, other.id));

const sortPeople = (people: readonly SourcePerson[]): SourcePerson[] =>
  people.toSorted((one, other) => compare(one.login, other.login));

const sortReactions = (reactions: readonly SourceReaction[] | null): SourceReaction[] | null =>
  reactions?.toSorted(
    (one, other) => compare(one.kind, other.kind) || compare(one.person?.login ?? '', other.person?.login ?? ''),
  ) ?? null;
