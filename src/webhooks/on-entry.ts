import type { AnnouncedEntry, DescribedIssue, EntryListener } from '../issues/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { commentPayload, issuePayload } from './issue-payloads.ts';
import { repositoryPayload, userPayload } from './payloads.ts';
import type { Json, JsonObject } from './payloads.ts';
import { webhooksFor } from './scope.ts';
import type { WebhookEvent } from './webhook-schema.ts';

type IssueEvent = Extract<
  WebhookEvent,
  'issues' | 'issue_comment' | 'issue_label' | 'issue_assign' | 'issue_milestone'
>;

/** An event of an entry, with its body. */
interface EntryEvent {
  event: IssueEvent;
  payload: JsonObject;
}

/** What an entry is to a receiver; `changes` says what was before. */
interface EntryAct {
  event: IssueEvent;
  action: string;
  changes?: JsonObject;
  /** Of the comment that it is about. */
  position?: number;
}

/**
 * Subscribes to the entries of issues; deliveries are enqueued in the write that marks this listener as done. A payload
 * has the issue as it is when the event is announced, also for an entry that was held.
 */
export function onEntry(deps: WebhookDeps, wake: () => void): EntryListener<EntryEvent> {
  return {
    name: 'webhooks',
    prepare: (announced) => prepare(deps, announced),
    async record(tx, { repository }, { event, payload }) {
      for (const { id } of await webhooksFor(tx.manager, repository, [event]))
        await enqueueDelivery(deps, tx, { webhookId: id, event, payload: JSON.stringify(payload) });
    },
    recorded: () => wake(),
  };
}

async function prepare(deps: WebhookDeps, announced: AnnouncedEntry): Promise<EntryEvent | null> {
  const { repository, issue, entry } = announced;
  // No webhook receives a held entry before a member has approved it. Pull requests have events of their own.
  if (issue.heldAt !== null || issue.kind !== 'ISSUE') return null;
  const kind = eventOf(entry.kind, entry.details);
  if (kind === null || (await webhooksFor(deps.db.read, repository, [kind])).length === 0) return null;
  const located = (await deps.repositories.locate([repository.id])).get(repository.id);
  const [described] = await deps.issues.describe([issue]);
  if (located === undefined || described === undefined) return null;
  const act = await actOf(deps, announced, described);
  if (act === null) return null;
  const sender = await personOf(deps, entry.authorId);
  const place = { origin: deps.settings.baseUrl ?? '', owner: located.owner.handle, repository };
  const common = {
    action: act.action,
    ...(act.changes !== undefined && { changes: act.changes }),
    issue: issuePayload(described, place) as Json,
    repository: repositoryPayload(located, deps.settings),
    sender: userPayload(sender, deps.settings),
  };
  if (act.position === undefined) {
    const commit = entry.kind === 'closed' ? entry.details['commit'] : '';
    return {
      event: act.event,
      payload: { ...common, number: issue.number, commit_id: typeof commit === 'string' ? commit : '' },
    };
  }
  const comment = await commentOf(deps, announced, described, act.position, place);
  return comment === null ? null : { event: act.event, payload: { ...common, comment, is_pull: false } };
}

/** By the kind alone, before anything is read; null for a kind without an event. */
function eventOf(kind: string, details: Readonly<Record<string, unknown>>): IssueEvent | null {
  switch (kind) {
    case 'opened':
    case 'closed':
    case 'reopened':
    case 'titled':
    case 'trashed':
      return 'issues';
    case 'edited':
      return details['position'] === 0 ? 'issues' : 'issue_comment';
    case 'comment':
    case 'emptied':
      return 'issue_comment';
    case 'labelled':
    case 'unlabelled':
      return 'issue_label';
    case 'assigned':
    case 'unassigned':
      return 'issue_assign';
    case 'milestoned':
      return 'issue_milestone';
    default:
      return null;
  }
}

async function actOf(
  deps: WebhookDeps,
  { issue, entry }: AnnouncedEntry,
  { labels }: DescribedIssue,
): Promise<EntryAct | null> {
  const { kind, details, position } = entry;
  const event = eventOf(kind, details)!;
  switch (kind) {
    case 'opened':
    case 'closed':
    case 'reopened':
    case 'assigned':
    case 'unassigned':
      return { event, action: kind };
    case 'trashed':
      return { event, action: 'deleted' };
    case 'titled':
      return { event, action: 'edited', changes: { title: { from: String(details['from'] ?? '') } } };
    case 'labelled':
    case 'unlabelled':
      return { event, action: labels.length === 0 ? 'label_cleared' : 'label_updated' };
    case 'milestoned':
      return { event, action: details['milestone'] === null ? 'demilestoned' : 'milestoned' };
    case 'comment':
      return { event, action: 'created', position };
    case 'emptied':
      return { event, action: 'deleted', position: Number(details['position']) };
    case 'edited': {
      const text = { position: Number(details['position']), revision: Number(details['revision']) };
      // Once the comment is deleted, so are the texts that it had.
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

async function commentOf(
  deps: WebhookDeps,
  { issue, entry }: AnnouncedEntry,
  { serial }: DescribedIssue,
  position: number,
  place: Parameters<typeof commentPayload>[3],
): Promise<JsonObject | null> {
  const found = position === entry.position ? entry : await deps.issues.findEntry(issue.id, position);
  if (found === null) return null;
  return commentPayload(found, await personOf(deps, found.authorId), { number: issue.number, serial }, place);
}

const personOf = async ({ accounts }: WebhookDeps, id: string | null) =>
  id === null ? null : ((await accounts.peopleById([id])).get(id) ?? null);
