import type { AuthorAssociation } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import { commentIdOf } from '../../issues/index.ts';
import type { DescribedIssue, Entry } from '../../issues/index.ts';
import type { Located } from '../../repositories/index.ts';
import { deletedUserName } from '../load-run.ts';
import type { Json } from '../workflows/json-value.ts';

/** An author of an issue or of a comment. */
export interface EventAuthor {
  person: Person | null;
  /** Name of an author without an account here. */
  name: string | null;
  association: AuthorAssociation;
}

const time = (ms: number): string => new Date(ms).toISOString();

export const userPayload = (person: Person | null, name: string | null = null): { [key: string]: Json } => {
  const login = person?.username ?? deletedUserName;
  return { login, username: login, name: person?.displayName || name || login, type: 'User' };
};

/** `github.event.label` */
export const labelPayload = ({ name, colour, description }: { name: string; colour: string; description: string }) => ({
  name,
  color: colour,
  description,
});

/** URL of the page of an issue or a pull request. */
export function issuePage({ kind, number }: DescribedIssue, { owner, repository }: Located, baseUrl: string | null) {
  return `${baseUrl ?? ''}/repos/${owner.handle}/${repository.name}/${kind === 'PULL' ? 'pulls' : 'issues'}/${number}`;
}

/** `github.event.milestone` */
const milestonePayload = (milestone: NonNullable<DescribedIssue['milestone']>): { [key: string]: Json } => ({
  title: milestone.title,
  description: milestone.description,
  state: milestone.closedAt === null ? 'open' : 'closed',
  due_on: milestone.dueOn,
});

/**
 * `github.event.issue` as workflows read it. Names and shapes are those of other forges; ids are those of the API here.
 * An issue with `pull_request` is the conversation of a pull request.
 */
export function issuePayload(issue: DescribedIssue, author: EventAuthor, page: string): { [key: string]: Json } {
  return {
    id: issue.serial,
    number: issue.number,
    html_url: page,
    title: issue.title,
    body: issue.body,
    user: userPayload(author.person, author.name),
    author_association: author.association,
    labels: issue.labels.map(labelPayload),
    assignee: issue.assigned[0] === undefined ? null : userPayload(issue.assigned[0]),
    assignees: issue.assigned.map((person) => userPayload(person)),
    milestone: issue.milestone === null ? null : milestonePayload(issue.milestone),
    state: issue.state === 'OPEN' ? 'open' : 'closed',
    state_reason: issue.closeReason,
    locked: issue.lockedAt !== null,
    comments: issue.commentCount,
    created_at: time(issue.createdAt),
    updated_at: time(issue.updatedAt),
    closed_at: issue.closedAt === null ? null : time(issue.closedAt),
    ...(issue.kind === 'PULL' && { pull_request: { html_url: page } }),
  };
}

/** `github.event.comment` */
export function commentPayload(
  entry: Entry,
  { serial }: DescribedIssue,
  author: EventAuthor,
  page: string,
): { [key: string]: Json } {
  return {
    id: commentIdOf(serial, entry.position),
    html_url: `${page}#e${entry.position}`,
    body: entry.body ?? '',
    user: userPayload(author.person, author.name),
    author_association: author.association,
    created_at: time(entry.createdAt),
    updated_at: time(entry.editedAt ?? entry.createdAt),
  };
}
