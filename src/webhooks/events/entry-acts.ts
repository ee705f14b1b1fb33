import type { AnnouncedEntry, DescribedIssue } from '../../issues/index.ts';
import type { WebhookDeps } from '../deps.ts';
import type { JsonObject } from '../json.ts';
import type { WebhookEvent } from '../webhook-schema.ts';

/** The action of an entry for receivers; `changes` has the previous values. */
export interface EntryAct {
  event: WebhookEvent;
  action: string;
  changes?: JsonObject;
  /** Position of the comment. */
  position?: number;
}

type Details = Readonly<Record<string, unknown>>;

/** Names of the events of issues and of pull requests. */
const names = {
  ISSUE: {
    own: 'issues',
    comment: 'issue_comment',
    label: 'issue_label',
    assign: 'issue_assign',
    milestone: 'issue_milestone',
  },
  PULL: {
    own: 'pull_request',
    comment: 'pull_request_comment',
    label: 'pull_request_label',
    assign: 'pull_request_assign',
    milestone: 'pull_request_milestone',
  },
} as const;

const reviews: Readonly<Record<string, WebhookEvent>> = {
  APPROVE: 'pull_request_review_approved',
  REQUEST_CHANGES: 'pull_request_review_rejected',
  COMMENT: 'pull_request_review_comment',
};

/** The event of an entry by the kinds alone, before anything is read; null if it has none. */
export function eventOf({
  issue,
  entry: { kind, details },
}: Pick<AnnouncedEntry, 'issue' | 'entry'>): WebhookEvent | null {
  const name = names[issue.kind];
  switch (kind) {
    case 'opened':
    case 'closed':
    case 'reopened':
    case 'titled':
    case 'trashed':
    case 'merged':
    case 'retargeted':
    case 'draft':
    case 'ready':
      return name.own;
    case 'edited':
      return details['position'] === 0 ? name.own : name.comment;
    case 'comment':
    case 'emptied':
      return name.comment;
    case 'labelled':
    case 'unlabelled':
      return name.label;
    case 'assigned':
    case 'unassigned':
      return name.assign;
    case 'milestoned':
      return name.milestone;
    case 'round':
      return 'pull_request_sync';
    case 'asked':
      return 'pull_request_review_request';
    case 'review':
      return reviews[String(details['verdict'])] ?? null;
    default:
      return null;
  }
}

/** The action of an entry, named as by Gitea, or else by GitHub. */
export async function actOf(
  deps: Pick<WebhookDeps, 'issues'>,
  { issue, entry }: AnnouncedEntry,
  { labels }: DescribedIssue,
): Promise<EntryAct | null> {
  const { kind, details, position } = entry;
  const event = eventOf({ issue, entry });
  if (event === null) return null;
  switch (kind) {
    case 'opened':
    case 'closed':
    case 'reopened':
    case 'assigned':
    case 'unassigned':
      return { event, action: kind };
    case 'merged':
      return { event, action: 'closed' };
    case 'trashed':
      return { event, action: 'deleted' };
    case 'titled':
      return { event, action: 'edited', changes: { title: { from: textIn(details, 'from') } } };
    case 'retargeted':
      return { event, action: 'edited', changes: { ref: { from: textIn(details, 'from') } } };
    case 'draft':
      return { event, action: 'converted_to_draft' };
    case 'ready':
      return { event, action: 'ready_for_review' };
    case 'round':
      return { event, action: 'synchronized' };
    case 'asked':
      return { event, action: details['removed'] === true ? 'review_request_removed' : 'review_requested' };
    case 'review':
      return { event, action: 'reviewed' };
    case 'labelled':
      return { event, action: 'label_updated' };
    case 'unlabelled':
      return { event, action: labels.length === 0 && isCleared(details) ? 'label_cleared' : 'label_updated' };
    case 'milestoned':
      return { event, action: details['milestone'] === null ? 'demilestoned' : 'milestoned' };
    case 'comment':
      return { event, action: 'created', position };
    case 'emptied':
      return { event, action: 'deleted', position: Number(details['position']) };
    case 'edited': {
      const text = { position: Number(details['position']), revision: Number(details['revision']) };
      // Deleting a comment also deletes its earlier texts.
      const before = await deps.issues.textBefore(issue.id, text);
      const changes = { body: { from: before ?? '' } };
      return text.position === 0
        ? { event, action: 'edited', changes }
        : { event, action: 'edited', changes, position: text.position };
    }
    default:
      return null;
  }
}

/** Removing one label is an update, even if it was the only one. */
const isCleared = ({ labels }: Details): boolean => Array.isArray(labels) && labels.length > 1;

const textIn = (details: Details, name: string): string => (typeof details[name] === 'string' ? details[name] : '');
