import { z } from 'zod';
import { hideReasons } from '../issues/index.ts';
import { giteaUser } from './user-schema.ts';

/** Issues and their parts in Gitea's form, with fields of our own. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
export const issueState = z.enum(['open', 'closed']);
export const closeReason = z.enum(['completed', 'not_planned', 'duplicate']);
export const hideReason = z.enum(hideReasons);
const state = issueState;

export const attachment = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    size: z.int().describe('Size in bytes'),
    download_count: z.int(),
    created_at: time,
    uuid: z.uuid(),
    browser_download_url: z.string(),
  })
  .meta({ id: 'Attachment' });

export const label = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    exclusive: z.boolean().describe('An issue can have only one of the labels that share the text before the last /'),
    is_archived: z.boolean(),
    color: z.string().describe('Six hexadecimal digits'),
    description: z.string(),
    url: z.string(),
  })
  .meta({ id: 'Label' });
export const milestone = z
  .strictObject({
    id: z.int(),
    title: z.string(),
    description: z.string(),
    state,
    open_issues: z.int(),
    closed_issues: z.int(),
    created_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    due_on: time.nullable().describe('End of the day'),
  })
  .meta({ id: 'Milestone' });
export const issue = z
  .strictObject({
    id: z.int().describe('Unique on this server; unchanged when the issue moves'),
    url: z.string(),
    html_url: z.string(),
    number: z.int().describe('Number within the repository'),
    user: giteaUser,
    original_author: z.string().describe('Name of an author without an account on this server'),
    original_author_id: z.int(),
    title: z.string(),
    body: z.string().describe('Markdown'),
    ref: z.string(),
    labels: z.array(label),
    milestone: milestone.nullable(),
    assignee: giteaUser.nullable().describe('First entry of assignees'),
    assignees: z.array(giteaUser),
    state,
    is_locked: z.boolean(),
    comments: z.int(),
    created_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    due_date: time.nullable().describe('End of the day'),
    pull_request: z
      .strictObject({ merged: z.boolean(), merged_at: time.nullable(), draft: z.boolean(), html_url: z.string() })
      .nullable()
      .describe('Set for a pull request; null for an issue'),
    repository: z.strictObject({ id: z.int(), name: z.string(), owner: z.string(), full_name: z.string() }),
    time_estimate: z.int().describe('Always 0'),
    content_version: z.int().describe('Revision of the body'),
    assets: z.array(attachment).describe('Files attached to the body'),
    pin_order: z.int().describe('0 if not pinned'),
    close_reason: closeReason.nullable(),
    revision: z.int().describe('Revision of the body, for If-Match'),
    held: z.boolean().describe('Whether it awaits a member’s approval of its author'),
  })
  .meta({ id: 'Issue' });

export const comment = z
  .strictObject({
    id: z.int().describe('Unique on this server; unchanged when the issue moves'),
    html_url: z.string(),
    pull_request_url: z.string(),
    issue_url: z.string(),
    user: giteaUser,
    original_author: z.string(),
    original_author_id: z.int(),
    body: z.string(),
    created_at: time,
    updated_at: time,
    assets: z.array(attachment),
    position: z.int().describe('Position of its entry in the issue’s timeline'),
    revision: z.int().describe('Revision of the text, for If-Match'),
    hidden: hideReason.nullable().describe('Reason for hiding; null if visible'),
    held: z.boolean().describe('Whether it awaits a member’s approval of its author'),
  })
  .meta({ id: 'Comment' });
