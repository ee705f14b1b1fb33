import { z } from 'zod';
import {
  closeReason,
  comment,
  giteaUser,
  hideReason,
  issue,
  issueState,
  label,
  milestone,
} from '../../../gitea-shapes/schemas.ts';
import { issueLimits, reactionKinds } from '../../../issues/index.ts';

/** The input of issues, and shapes of our own; shapes of Gitea's API are in gitea-shapes. */
export { comment, giteaUser, hideReason, issue, label, milestone };

const time = z.iso.datetime().describe('ISO 8601, UTC');
const state = issueState;
const text = z.string().max(issueLimits.bodyBytes).describe('Markdown');
const reactionKind = z.enum(reactionKinds);

export const newLabel = z
  .object({
    name: z.string(),
    color: z.string().describe('Six hexadecimal digits, with or without #'),
    description: z.string().nullish(),
    exclusive: z.boolean().nullish(),
  })
  .meta({ id: 'NewLabel' });
export const labelEdit = z
  .object({
    name: z.string().nullish(),
    color: z.string().nullish(),
    description: z.string().nullish(),
    exclusive: z.boolean().nullish(),
  })
  .meta({ id: 'LabelEdit' });

const dueOn = z.string().max(40).nullish().describe('Date, or a time on that date');
export const newMilestone = z
  .object({ title: z.string(), description: z.string().nullish(), due_on: dueOn, state: state.nullish() })
  .meta({ id: 'NewMilestone' });
export const milestoneEdit = z
  .object({
    title: z.string().nullish(),
    description: z.string().nullish(),
    due_on: dueOn.describe('Empty for none'),
    state: state.nullish(),
  })
  .meta({ id: 'MilestoneEdit' });

/** An id, or a name. */
const labelRef = z.union([z.int(), z.string()]);
export const labelRefs = z.array(labelRef).max(issueLimits.labelsPerScope);
const assignees = z.array(z.string()).max(issueLimits.assigneesPerIssue * 2);
const dueDate = z.string().max(40).nullish().describe('Date, or a time on that date');
const milestoneRef = z.int().nullish().describe('ID; 0 for none');

export const newIssue = z
  .object({
    title: z.string(),
    body: text.nullish(),
    labels: labelRefs.nullish().describe('IDs or names'),
    assignee: z.string().nullish(),
    assignees: assignees.nullish(),
    milestone: milestoneRef,
    closed: z.boolean().nullish(),
    due_date: dueDate,
    ref: z.string().max(255).nullish().describe('Related branch or tag'),
    template: z
      .string()
      .max(255)
      .nullish()
      .describe(
        'File name of an issue template, which provides the labels, assignees and, if `body` is empty, the text',
      ),
    answers: z
      .record(z.string().max(100), z.array(z.string().max(65_536)).max(100))
      .nullish()
      .describe('Values for the fields of a form template, by field ID'),
  })
  .meta({ id: 'NewIssue' });
export const issueEdit = z
  .object({
    title: z.string().nullish().describe('An empty value leaves it unchanged'),
    body: text.nullish(),
    state: state.nullish(),
    close_reason: closeReason.nullish().describe('Defaults to completed'),
    labels: labelRefs.nullish().describe('Complete list of labels, by ID or name'),
    assignee: z.string().nullish(),
    assignees: assignees.nullish(),
    milestone: milestoneRef,
    due_date: dueDate,
    unset_due_date: z.boolean().nullish(),
    ref: z.string().max(255).nullish().describe('Related branch or tag'),
    revision: z
      .int()
      .nullish()
      .describe('Revision of the body that was edited; a different revision is rejected with 409'),
  })
  .meta({ id: 'IssueEdit' });
export const issueLabels = z.object({ labels: labelRefs }).meta({ id: 'IssueLabels' });

export const newComment = z.object({ body: text }).meta({ id: 'NewComment' });
export const commentEdit = z
  .object({ body: text, revision: z.int().nullish().describe('Revision of the text that was edited') })
  .meta({ id: 'CommentEdit' });
export const textRevision = z
  .strictObject({ revision: z.int(), body: z.string(), editor: giteaUser, edited_at: time })
  .meta({ id: 'TextRevision' });

export const timelineEntry = z
  .strictObject({
    ...comment.shape,
    type: z.string().describe('comment, close, reopen, label, milestone, assignees, change_title, lock, unlock …'),
    label: label.nullable().describe('First entry of labels'),
    labels: z.array(label).describe('With names as of that time; `id` is 0 and `url` is empty for deleted ones'),
    old_title: z.string(),
    new_title: z.string(),
    milestone_title: z.string().nullable(),
    assignee: giteaUser.nullable().describe('First entry of assignees'),
    assignees: z.array(giteaUser),
    removed_assignee: z.boolean(),
    ref_commit_sha: z.string(),
    ref_issue: z
      .strictObject({ number: z.int(), title: z.string(), state, repository: z.string(), html_url: z.string() })
      .nullable(),
    kind: z.string().describe('Name of the event on this server'),
    reactions: z.array(z.strictObject({ content: reactionKind, count: z.int(), own: z.boolean() })),
  })
  .meta({ id: 'TimelineEntry' });

export const reaction = z
  .strictObject({ user: giteaUser, content: reactionKind, created_at: z.null() })
  .meta({ id: 'Reaction' });
export const newReaction = z.object({ content: reactionKind }).meta({ id: 'NewReaction' });

export const subscription = z
  .strictObject({
    subscribed: z.boolean(),
    ignored: z.boolean(),
    reason: z.null().describe('Not available, as in Gitea'),
    subscribed_as: z.string().nullable().describe('Reason: author, assigned, mentioned …'),
    created_at: z.null(),
    url: z.string(),
    repository_url: z.string(),
  })
  .meta({ id: 'IssueSubscription' });

export const issueMeta = z
  .object({
    index: z.int().describe('Number of the other issue'),
    owner: z.string().nullish().describe('Defaults to this repository'),
    repo: z.string().nullish(),
  })
  .meta({ id: 'IssueMeta' });

export const issueSettings = z
  .strictObject({
    issues_from: z.enum(['nobody', 'members', 'anyone']).describe('Who can open issues and comment'),
    holds_newcomers: z.boolean().describe('Whether a user’s first contribution needs approval by a member'),
  })
  .meta({ id: 'IssueSettings' });
export const issueSettingsEdit = z
  .object({
    issues_from: issueSettings.shape.issues_from.optional(),
    holds_newcomers: issueSettings.shape.holds_newcomers.optional(),
  })
  .meta({ id: 'IssueSettingsEdit' });
export const heldContribution = z
  .strictObject({ user: giteaUser, issue: z.int(), position: z.int(), held_at: time })
  .meta({ id: 'HeldContribution' });

/** Pages by number, as Gitea's clients count, or by `after`, which new rows do not shift. */
export const numberedPaging = {
  page: z.int().min(0).max(10_000).default(0).describe('Counted from 1; pages beyond 10,000 results are rejected'),
  limit: z.int().min(0).max(100_000).default(0).describe('Results per page, at most 100; 0 means 30'),
  after: z.string().max(500).optional().describe('Cursor from the previous page’s Link header'),
};
