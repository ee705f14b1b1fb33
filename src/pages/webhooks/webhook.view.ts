import type { Webhook, WebhookDelivery } from '../../webhooks/index.ts';
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
  if (state === 'DELIVERED') return { tone: 'good', icon: 'check', text: `Delivered, ${status}` };
  if (state === 'FAILED') return { tone: 'bad', icon: 'cross', text: status === null ? 'Failed' : `Failed, ${status}` };
  return error === null
    ? { tone: 'busy', icon: 'clock', text: 'Pending' }
    : {
        tone: 'idle',
        icon: 'clock',
        text: status === null ? 'No response, retrying' : `Responded ${status}, retrying`,
      };
}

/** The parts of an address that its owner knows it by; the query may be a secret. */
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

/** What people call the events. */
export const eventWords: Readonly<Record<Webhook['events'][number], string>> = {
  push: 'push',
  create: 'branch or tag created',
  delete: 'branch or tag deleted',
  fork: 'forked',
  gollum: 'the wiki was changed',
  release: 'release published, edited or deleted',
  package: 'version of a package published or deleted',
  run: 'run finished',
  status: 'status of a commit reported',
  deployment: 'deployment made',
  deployment_status: 'state of a deployment changed',
  issues: 'issue opened, edited, closed, reopened or deleted',
  issue_comment: 'issue comment created, edited or deleted',
  issue_label: 'issue labels changed',
  issue_assign: 'issue assigned or unassigned',
  issue_milestone: 'issue milestone set or cleared',
  pull_request: 'pull request opened, edited, closed, merged or reopened',
  pull_request_sync: 'pull request got new commits',
  pull_request_comment: 'pull request comment created, edited or deleted',
  pull_request_label: 'pull request labels changed',
  pull_request_assign: 'pull request assigned or unassigned',
  pull_request_milestone: 'pull request milestone set or cleared',
  pull_request_review_request: 'review requested or request removed',
  pull_request_review_approved: 'pull request approved',
  pull_request_review_rejected: 'changes to a pull request requested',
  pull_request_review_comment: 'review with comments only',
};

export interface DeliveryView {
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
