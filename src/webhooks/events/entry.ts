import {
  commentPayload,
  describePulls,
  issuePayload,
  pullPayload,
  repositoryPayload,
  teamPayload,
  userPayload,
} from '../../gitea-shapes/index.ts';
import type { AnnouncedEntry, DescribedIssue, EntryListener } from '../../issues/index.ts';
import type { Located } from '../../repositories/index.ts';
import { enqueueDelivery } from '../enqueue-delivery.ts';
import type { WebhookDeps } from '../deps.ts';
import { actOf, eventOf } from './entry-acts.ts';
import type { EntryAct } from './entry-acts.ts';
import type { Json, JsonObject } from '../json.ts';
import { webhooksFor } from '../scope.ts';
import { locate, personOf } from './stored-event.ts';
import type { WebhookEvent } from '../webhook-schema.ts';

/** An event of an entry with its payload. */
interface EntryEvent {
  event: WebhookEvent;
  payload: JsonObject;
}

/**
 * Listener for entries of issues and pull requests; enqueues deliveries in the write that marks this listener as done.
 * The payload contains the issue at the time of the announcement, also for an entry that was held.
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
  // No webhook receives a held entry before a member approves it.
  if (issue.heldAt !== null) return null;
  const event = eventOf(announced);
  if (event === null || (await webhooksFor(deps.db.read, repository, [event])).length === 0) return null;
  const located = await locate(deps, repository.id);
  const [described] = await deps.issues.describe([issue]);
  if (located === null || described === undefined) return null;
  const act = await actOf(deps, announced, described);
  if (act === null) return null;
  const common = {
    action: act.action,
    ...(act.changes !== undefined && { changes: act.changes }),
    repository: repositoryPayload(located, deps.settings),
    sender: userPayload(await personOf(deps, entry.authorId), deps.settings),
  };
  const about = await aboutOf(deps, announced, described, located, act);
  return about === null ? null : { event, payload: { ...common, ...about } };
}

/** The subject of the event; null if it was deleted. */
async function aboutOf(
  deps: WebhookDeps,
  announced: AnnouncedEntry,
  described: DescribedIssue,
  located: Located,
  { event, position }: EntryAct,
): Promise<JsonObject | null> {
  const { repository, issue, entry } = announced;
  const origin = deps.settings.baseUrl ?? '';
  const place = { origin, owner: located.owner.handle, repository };
  // Receivers are unknown, so forks are described only as far as anonymous clients may read them. Teams belong to the
  // repository.
  const [pull] = await describePulls(deps, [described], {
    mayRead: ({ visibility }) => visibility === 'PUBLIC',
    teamsById: (ids) => deps.organisations.teams.byId(ids),
  });
  if (issue.kind === 'PULL' && pull === undefined) return null;
  const pulled: JsonObject =
    pull === undefined
      ? {}
      : { pull_request: pullPayload(pull, origin, (each) => repositoryPayload(each, deps.settings)) as Json };
  if (position !== undefined) {
    const comment = await commentOf(deps, announced, described, position, place);
    const onIssue = { issue: issuePayload(described, place, pull?.pull) as Json, ...pulled };
    return comment === null ? null : { ...onIssue, comment, is_pull: issue.kind === 'PULL' };
  }
  const commit = entry.kind === 'closed' ? entry.details['commit'] : '';
  const common = { number: issue.number, commit_id: typeof commit === 'string' ? commit : '' };
  if (pull === undefined) return { issue: issuePayload(described, place) as Json, ...common };
  return { ...pulled, ...common, ...(await partsOf(deps, announced, event, pull.pull.headOid)) };
}

/** Fields of some events of pull requests. */
async function partsOf(
  deps: WebhookDeps,
  { entry }: AnnouncedEntry,
  event: WebhookEvent,
  headOid: string,
): Promise<JsonObject> {
  const { kind, details } = entry;
  const none = { requested_reviewer: null, review: null };
  if (kind === 'round')
    return { ...none, after: String(details['headOid'] ?? headOid), round: Number(details['round'] ?? 0) };
  if (kind === 'asked') {
    if (typeof details['teamId'] === 'string') {
      const found = (await deps.organisations.teams.byId([details['teamId']])).get(details['teamId']);
      return { ...none, requested_team: found === undefined ? null : teamPayload(found.team) };
    }
    const reviewer = await personOf(deps, typeof details['userId'] === 'string' ? details['userId'] : null);
    return { ...none, requested_reviewer: userPayload(reviewer, deps.settings) };
  }
  if (kind === 'review') return { ...none, commit_id: headOid, review: { type: event, content: entry.body ?? '' } };
  return none;
}

async function commentOf(
  deps: WebhookDeps,
  { issue, entry }: AnnouncedEntry,
  described: DescribedIssue,
  position: number,
  place: Parameters<typeof commentPayload>[3],
): Promise<JsonObject | null> {
  const found = position === entry.position ? entry : await deps.issues.findEntry(issue.id, position);
  if (found === null) return null;
  return commentPayload(found, await personOf(deps, found.authorId), described, place);
}
