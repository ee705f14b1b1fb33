import type { Webhook, WebhookDelivery } from '../../webhooks/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';

/** The status of a delivery, with an icon and a label. */
interface DeliveryStatus {
  tone: 'good' | 'bad' | 'idle' | 'busy';
  icon: string;
  text: string;
}

type DeliveryResult = Pick<WebhookDelivery, 'state' | 'status' | 'error'>;

function viewStatus({ state, status, error }: DeliveryResult): DeliveryStatus {
  if (state === 'DELIVERED')
    return { tone: 'good', icon: 'check', text: t('webhooks.webhook.delivered', { status: String(status) }) };
  if (state === 'FAILED')
    return {
      tone: 'bad',
      icon: 'cross',
      text:
        status === null ? t('webhooks.webhook.failed') : t('webhooks.webhook.failed_with', { status: String(status) }),
    };
  return error === null
    ? { tone: 'busy', icon: 'clock', text: t('webhooks.webhook.pending') }
    : {
        tone: 'idle',
        icon: 'clock',
        text:
          status === null
            ? t('webhooks.webhook.no_response_retrying')
            : t('webhooks.webhook.responded', { status: String(status) }),
      };
}

/** The parts of a URL that its owner recognises; the query may be a secret. */
const shownUrl = (url: string): string => url.replace(/\?.*$/, '?…');

export function viewWebhook({ id, url, hasSecret, events, isActive, last }: Webhook, listUrl: string, now: number) {
  return {
    url: `${listUrl}/${id}`,
    address: shownUrl(url),
    isPlainHttp: url.startsWith('http:'),
    hasSecret,
    isActive,
    events: events.map((event) => eventWords[event]).join(', '),
    last: last === null ? null : { status: viewStatus(last), at: viewTime(last.triedAt ?? last.createdAt, now) },
  };
}

/** Labels of the events. */
export const eventWords: Readonly<Record<Webhook['events'][number], string>> = translated({
  push: 'webhooks.webhook.push',
  create: 'webhooks.webhook.branch_or_tag_created',
  delete: 'webhooks.webhook.branch_or_tag_deleted',
  fork: 'webhooks.webhook.forked',
  repository: 'webhooks.webhook.repository_created_or_deleted',
  gollum: 'webhooks.webhook.wiki_changed',
  release: 'webhooks.webhook.release_published_edited_or_deleted',
  package: 'webhooks.webhook.package_version_published_or_deleted',
  run: 'webhooks.webhook.run_finished',
  status: 'webhooks.webhook.commit_status_reported',
  deployment: 'webhooks.webhook.deployment_created',
  deployment_status: 'webhooks.webhook.deployment_status_changed',
  issues: 'webhooks.webhook.issue_opened_edited_closed_reopened_or',
  issue_comment: 'webhooks.webhook.issue_comment_created_edited_or_deleted',
  issue_label: 'webhooks.webhook.issue_labels_changed',
  issue_assign: 'webhooks.webhook.issue_assigned_or_unassigned',
  issue_milestone: 'webhooks.webhook.issue_milestone_set_or_cleared',
  pull_request: 'webhooks.webhook.pull_request_opened_edited_closed_merged',
  pull_request_sync: 'webhooks.webhook.new_commits_in_a_pull_request',
  pull_request_comment: 'webhooks.webhook.pull_request_comment_created_edited_or',
  pull_request_label: 'webhooks.webhook.pull_request_labels_changed',
  pull_request_assign: 'webhooks.webhook.pull_request_assigned_or_unassigned',
  pull_request_milestone: 'webhooks.webhook.pull_request_milestone_set_or_cleared',
  pull_request_review_request: 'webhooks.webhook.review_requested_or_request_removed',
  pull_request_review_approved: 'webhooks.webhook.pull_request_approved',
  pull_request_review_rejected: 'webhooks.webhook.changes_to_a_pull_request_requested',
  pull_request_review_comment: 'webhooks.webhook.review_with_comments_only',
});

interface DeliveryView {
  id: number;
  event: string;
  uuid: string;
  status: DeliveryStatus;
  created: TimeView;
  tried: TimeView | null;
  /** `1.2 s`; null before the first attempt. */
  took: string | null;
  attempts: number;
  error: string | null;
  next: TimeView | null;
  payload: string | null;
  response: string | null;
  redeliveryOf: number | null;
}

const maxShownPayload = 20_000;

export function viewDelivery(row: WebhookDelivery, now: number): DeliveryView {
  const { id, event, uuid, state, attempts, error, response, redeliveryOf } = row;
  const payload = row.payload === null ? null : JSON.stringify(JSON.parse(row.payload), null, 2);
  return {
    id,
    event,
    uuid,
    attempts,
    error,
    redeliveryOf,
    status: viewStatus(row),
    created: viewTime(row.createdAt, now),
    tried: row.triedAt === null ? null : viewTime(row.triedAt, now),
    took: row.tookMs === null ? null : row.tookMs < 1_000 ? `${row.tookMs} ms` : `${(row.tookMs / 1_000).toFixed(1)} s`,
    next: state === 'PENDING' && attempts > 0 ? viewTime(row.nextAttemptAt, now) : null,
    payload:
      payload === null || payload.length <= maxShownPayload ? payload : `${payload.slice(0, maxShownPayload)}\n…`,
    response,
  };
}
