import type { z } from 'zod';
import { attachmentPath, commentIdOf } from '../issues/index.ts';
import type { Attachment, DescribedIssue, Entry, HideReason, Label, Milestone } from '../issues/index.ts';
import type { Person } from '../accounts/index.ts';
import type { PullRow } from '../pulls/index.ts';
import { numericId } from './numeric-id.ts';
import { giteaTime, giteaTimeOrNull } from './time.ts';
import { userPayload } from './user.ts';
import type { UserPayload } from './user.ts';
import type * as schemas from './issue-schema.ts';

/** Issues, comments, labels and milestones in Gitea's form; `revision`, `position` and the like are ours. */
type AttachmentPayload = z.output<typeof schemas.attachment>;
export type LabelPayload = z.output<typeof schemas.label>;
type MilestonePayload = z.output<typeof schemas.milestone>;
export type IssuePayload = z.output<typeof schemas.issue>;
type CommentPayload = z.output<typeof schemas.comment>;

/** Location of an issue: absolute URLs begin with `origin`. */
interface IssuePlace {
  origin: string;
  owner: string;
  repository: { id: string; name: string };
}

/** The end of the day. */
const dueDate = (day: string | null): string | null => (day === null ? null : `${day}T23:59:59Z`);

/**
 * @param at its repository, or the organisation that owns the label
 */
export const labelPayload = (
  label: Label,
  { origin, at: { owner, name } }: { origin: string; at: { owner: string; name?: string } },
): LabelPayload => ({
  id: numericId(label.id),
  name: label.name,
  exclusive: label.isExclusive,
  is_archived: false,
  color: label.colour,
  description: label.description,
  url: `${origin}/api/v1${label.repositoryId === null ? `/orgs/${owner}` : `/repos/${owner}/${name}`}/labels/${numericId(label.id)}`,
});

export const milestonePayload = (milestone: Milestone): MilestonePayload => ({
  id: numericId(milestone.id),
  title: milestone.title,
  description: milestone.description,
  state: milestone.closedAt === null ? 'open' : 'closed',
  open_issues: milestone.openCount,
  closed_issues: milestone.closedCount,
  created_at: giteaTime(milestone.createdAt),
  // Edits of a milestone have no recorded time; clients of Forgejo fail on null.
  updated_at: giteaTime(Math.max(milestone.createdAt, milestone.closedAt ?? 0)),
  closed_at: giteaTimeOrNull(milestone.closedAt),
  due_on: dueDate(milestone.dueOn),
});

/** A file of an issue. @param at its repository */
export const attachmentPayload = (
  { id, name, bytes, createdAt }: Attachment,
  at: { owner: string; name: string },
  origin: string,
): AttachmentPayload => ({
  id: numericId(id),
  name,
  size: bytes,
  download_count: 0,
  created_at: giteaTime(createdAt),
  uuid: id,
  browser_download_url: origin + attachmentPath(at, id),
});

/** The path of an issue's page, below that of its repository: pull requests have pages of their own. */
export const issuePath = ({ kind, number }: Pick<DescribedIssue, 'kind' | 'number'>): string =>
  `${kind === 'PULL' ? 'pulls' : 'issues'}/${number}`;

/**
 * @param pull for the conversation of a pull request
 */
export function issuePayload(
  issue: DescribedIssue,
  { origin, owner, repository }: IssuePlace,
  pull: Pick<PullRow, 'isDraft' | 'mergedAt'> | null = null,
): IssuePayload {
  const at = `/repos/${owner}/${repository.name}`;
  const user = (person: Person | null): UserPayload => userPayload(person, { baseUrl: origin });
  const assignees = issue.assigned.map(user);
  const page = `${origin}${at}/${issuePath(issue)}`;
  return {
    id: issue.serial,
    url: `${origin}/api/v1${at}/issues/${issue.number}`,
    html_url: page,
    number: issue.number,
    user: user(issue.author),
    original_author: issue.authorId === null ? (issue.authorName ?? '') : '',
    original_author_id: 0,
    title: issue.title,
    body: issue.body,
    ref: issue.ref,
    labels: issue.labels.map((label) => labelPayload(label, { origin, at: { owner, name: repository.name } })),
    milestone: issue.milestone === null ? null : milestonePayload(issue.milestone),
    assignee: assignees[0] ?? null,
    assignees,
    state: issue.state === 'OPEN' ? 'open' : 'closed',
    is_locked: issue.lockedAt !== null,
    comments: issue.commentCount,
    created_at: giteaTime(issue.createdAt),
    updated_at: giteaTime(issue.updatedAt),
    closed_at: giteaTimeOrNull(issue.closedAt),
    due_date: dueDate(issue.dueOn),
    pull_request:
      issue.kind === 'ISSUE'
        ? null
        : {
            merged: issue.state === 'MERGED',
            merged_at: giteaTimeOrNull(pull?.mergedAt ?? null),
            draft: pull?.isDraft ?? false,
            html_url: page,
          },
    repository: {
      id: numericId(repository.id),
      name: repository.name,
      owner,
      full_name: `${owner}/${repository.name}`,
    },
    time_estimate: 0,
    content_version: issue.revision,
    assets: issue.attachments.map((file) => attachmentPayload(file, { owner, name: repository.name }, origin)),
    pin_order: issue.pinnedAt === null ? 0 : 1,
    close_reason: issue.closeReason,
    revision: issue.revision,
    held: issue.heldAt !== null,
  };
}

/**
 * @param issue its kind and number, and the serial from `describe`
 */
export function commentPayload(
  entry: Entry & { hiddenFor?: HideReason | null },
  author: Person | null,
  { kind, number, serial }: Pick<DescribedIssue, 'kind' | 'number' | 'serial'>,
  { origin, owner, repository }: IssuePlace,
): CommentPayload {
  const page = `${origin}/repos/${owner}/${repository.name}/${issuePath({ kind, number })}`;
  return {
    id: commentIdOf(serial, entry.position),
    html_url: `${page}#e${entry.position}`,
    pull_request_url: kind === 'PULL' ? page : '',
    issue_url: kind === 'PULL' ? '' : page,
    user: userPayload(author, { baseUrl: origin }),
    original_author: entry.authorId === null ? (entry.authorName ?? '') : '',
    original_author_id: 0,
    body: entry.body ?? '',
    created_at: giteaTime(entry.createdAt),
    updated_at: giteaTime(entry.editedAt ?? entry.createdAt),
    assets: [],
    position: entry.position,
    revision: entry.revision,
    hidden: entry.hiddenFor ?? null,
    held: entry.heldAt !== null,
  };
}
