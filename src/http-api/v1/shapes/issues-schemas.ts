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
    color: z.string().describe('Six hex digits, with or without #'),
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

const dueOn = z.string().max(40).nullish().describe('A date, or a time of that day');
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
const dueDate = z.string().max(40).nullish().describe('A date, or a time of that day');
const milestoneRef = z.int().nullish().describe('Id; 0 for none');

export const newIssue = z
  .object({
    title: z.string(),
    body: text.nullish(),
    labels: labelRefs.nullish().describe('Ids or names'),
    assignee: z.string().nullish(),
    assignees: assignees.nullish(),
    milestone: milestoneRef,
    closed: z.boolean().nullish(),
    due_date: dueDate,
    ref: z.string().max(255).nullish().describe('A branch or tag that it is about'),
    template: z
      .string()
      .max(255)
      .nullish()
      .describe('The file name of an issue template: its labels and assignees, and its text when `body` is empty'),
    answers: z
      .record(z.string().max(100), z.array(z.string().max(65_536)).max(100))
      .nullish()
      .describe('The answers to a template with fields, by their ids'),
  })
  .meta({ id: 'NewIssue' });
export const issueEdit = z
  .object({
    title: z.string().nullish().describe('Empty stays as it is'),
    body: text.nullish(),
    state: state.nullish(),
    close_reason: closeReason.nullish().describe('Left out: completed'),
    labels: labelRefs.nullish().describe('All labels, by id or name'),
    assignee: z.string().nullish(),
    assignees: assignees.nullish(),
    milestone: milestoneRef,
    due_date: dueDate,
    unset_due_date: z.boolean().nullish(),
    ref: z.string().max(255).nullish().describe('A branch or tag that it is about'),
    revision: z.int().nullish().describe('Of the body that was edited; another one is refused with 409'),
  })
  .meta({ id: 'IssueEdit' });
export const issueLabels = z.object({ labels: labelRefs }).meta({ id: 'IssueLabels' });

export const newComment = z.object({ body: text }).meta({ id: 'NewComment' });
export const commentEdit = z
  .object({ body: text, revision: z.int().nullish().describe('Of the text that was edited') })
  .meta({ id: 'CommentEdit' });
export const textRevision = z
  .strictObject({ revision: z.int(), body: z.string(), editor: giteaUser, edited_at: time })
  .meta({ id: 'TextRevision' });

export const timelineEntry = z
  .strictObject({
    ...comment.shape,
    type: z.string().describe('comment, close, reopen, label, milestone, assignees, change_title, lock, unlock …'),
    label: label.nullable().describe('The first of labels'),
    labels: z.array(label).describe('As they were named then; `id` and `url` of one that is gone are 0 and empty'),
    old_title: z.string(),
    new_title: z.string(),
    milestone_title: z.string().nullable(),
    assignee: giteaUser.nullable().describe('The first of assignees'),
    assignees: z.array(giteaUser),
    removed_assignee: z.boolean(),
    ref_commit_sha: z.string(),
    ref_issue: z
      .strictObject({ number: z.int(), title: z.string(), state, repository: z.string(), html_url: z.string() })
      .nullable(),
    kind: z.string().describe('What the log of this server calls it'),
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
    reason: z.null().describe('Not told, as in Gitea'),
    subscribed_as: z.string().nullable().describe('Why: author, assigned, mentioned …'),
    created_at: z.null(),
    url: z.string(),
    repository_url: z.string(),
  })
  .meta({ id: 'IssueSubscription' });

export const issueMeta = z
  .object({
    index: z.int().describe('Number of the other issue'),
    owner: z.string().nullish().describe('Left out, this repository'),
    repo: z.string().nullish(),
  })
  .meta({ id: 'IssueMeta' });

export const issueSettings = z
  .strictObject({
    issues_from: z.enum(['nobody', 'members', 'anyone']).describe('Who may open issues and comment'),
    holds_newcomers: z.boolean().describe('Whether the first contribution of a user waits for a member'),
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
  page: z.int().min(0).max(10_000).default(0).describe('From 1; further than 10,000 rows is refused'),
  limit: z.int().min(0).max(100_000).default(0).describe('Rows of one page, 100 at most; 0 for 30'),
  after: z.string().max(500).optional().describe('What the Link header of the page before gave'),
};
