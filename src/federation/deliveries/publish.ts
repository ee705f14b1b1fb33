import { inList } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import type { Json } from '../documents/json-fields.ts';
import type { FederationDeps } from '../deps.ts';
import { deliverySchema } from '../schema/delivery-schema.ts';
import { outboxSchema } from '../schema/outbox-schema.ts';

/** An activity of a local actor to be recorded. */
export interface NewActivity {
  type: 'Follow' | 'Undo' | 'Accept' | 'Reject' | 'Push' | 'Create' | 'Delete';
  /** The acting and signing actor: path of a local actor. */
  actorPath: string;
  /** The repository that the activity is about, if any; see `OutboxRow`. */
  repositoryId?: string | null;
  /**
   * The rest of the document, without `id`, `type` and `actor`; for a Create, a function of the UUID that its object
   * shares.
   */
  content: Json | ((uuid: string) => Json);
  /** Set for a note to other Hearths only. */
  reads?: 'event' | null;
}

/** Recipients of an activity. */
export type Audience =
  | { inbox: string }
  /** Followers of a repository: on servers that read pushes, notes, or events (`readsEvents`). */
  | { followersOf: string; reads: 'push' | 'note' | 'event' }
  /** Followers of a user or an organisation, except those that also follow the repository and get its own activity. */
  | { followersOfOwner: string; besides: string }
  /** Recipients of an earlier activity, delivered or pending; its UUID. */
  | { readersOf: string };

/**
 * Records an activity and a delivery to each recipient, inside the write of the event: both happen or neither (SPEC §6:
 * always queued, never sent inline).
 * @returns the activity's id
 */
export async function publish(
  deps: FederationDeps,
  tx: Tx,
  activity: NewActivity,
  audience: Audience,
): Promise<string> {
  const { type, actorPath, repositoryId = null } = activity;
  const uuid = deps.random.uuid();
  const actor = deps.localActors.idOf(actorPath);
  const id = `${actor}/activities/${uuid}`;
  const { '@context': context, ...content } =
    typeof activity.content === 'function' ? activity.content(uuid) : activity.content;
  const document = { '@context': context, id, type, actor, ...content };
  await tx.manager.insert(outboxSchema, {
    id: uuid,
    actorPath,
    repositoryId,
    type,
    isPublic: type === 'Push',
    reads: activity.reads ?? null,
    activity: JSON.stringify(document),
    createdAt: tx.now,
  });
  if ('inbox' in audience) await enqueue(tx, uuid, audience.inbox);
  else if ('followersOf' in audience) await enqueueToFollowers(deps, tx, uuid, audience);
  else if ('readersOf' in audience) await enqueueToReaders(tx, uuid, audience);
  else await enqueueToOwnersFollowers(tx, uuid, audience);
  return id;
}

/** A new PENDING delivery of a recorded activity. */
export async function enqueue({ manager, now }: Tx, outboxId: string, targetInbox: string): Promise<number> {
  const { host } = new URL(targetInbox);
  const result = await manager.insert(deliverySchema, {
    outboxId,
    targetInbox,
    host,
    state: 'PENDING',
    attempts: 0,
    lastError: null,
    nextAttemptAt: now,
    lockedUntil: 0,
    createdAt: now,
    settledAt: null,
    cancelledAt: null,
  });
  return Number(result.identifiers[0]?.['id']);
}

/**
 * One statement for all followers, so that ten thousand rows never pass through memory. Deliveries to a server that is
 * known to be down wait for it instead of being attempted; none are queued for a server to which deliveries have ended,
 * since every push would only add failing rows, nor for followers on unlisted servers while these are not allowed.
 */
async function enqueueToFollowers(
  { settings }: FederationDeps,
  { manager, now }: Tx,
  outboxId: string,
  { followersOf, reads }: Extract<Audience, { followersOf: string }>,
): Promise<void> {
  const isEvent = reads === 'event';
  const served = settings.openFollowers ? '' : `AND ${inList('f.host')}`;
  const listed = settings.openFollowers ? [] : [JSON.stringify(settings.allowlist)];
  await manager.query(
    `${insertDeliveries}
       FROM repository_followers f LEFT JOIN federation_peers p ON p.host = f.host
      WHERE f.repository_id = ? AND p.gone_at IS NULL AND ${isEvent ? readsEvents('p') : "coalesce(p.reads, 'push') = ?"}
        AND (p.open_at IS NULL OR p.paired_at IS NOT NULL OR (1 = 1 ${served}))`,
    [outboxId, now, now, now, followersOf, ...(isEvent ? [] : [reads]), ...listed],
  );
}

/**
 * SQL condition for a server whose followers read events: a Hearth by its NodeInfo, or an unlisted server, whose
 * NodeInfo is not read, with a follower whose actor names repositories. @param p alias of `federation_peers`
 */
export const readsEvents = (p: string): string =>
  `(${p}.software = 'hearth' OR (${p}.software_at IS NULL AND ${p}.open_at IS NOT NULL AND ${p}.reads IS NULL))`;

const insertDeliveries = `INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, attempts, next_attempt_at, locked_until, created_at)
     SELECT ?, f.inbox, f.host, 'PENDING', 0, CASE WHEN p.retry_at > ? THEN p.retry_at ELSE ? END, 0, ?`;

/**
 * Like `enqueueToFollowers`, for those who follow only the owner; only users of microblogs follow users and
 * organisations.
 */
async function enqueueToOwnersFollowers(
  { manager, now }: Tx,
  outboxId: string,
  { followersOfOwner, besides }: Extract<Audience, { followersOfOwner: string }>,
): Promise<void> {
  await manager.query(
    `${insertDeliveries}
       FROM owner_followers f LEFT JOIN federation_peers p ON p.host = f.host
      WHERE f.subject_id = ? AND p.gone_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM repository_followers r WHERE r.repository_id = ? AND r.actor_id = f.actor_id)`,
    [outboxId, now, now, now, followersOfOwner, besides],
  );
}

/** Like `enqueueToFollowers`, for the recipients of an earlier activity. */
async function enqueueToReaders(
  { manager, now }: Tx,
  outboxId: string,
  { readersOf }: Extract<Audience, { readersOf: string }>,
): Promise<void> {
  await manager.query(
    `${insertDeliveries}
       FROM (SELECT d.target_inbox AS inbox, d.host FROM federation_delivery d
              WHERE d.outbox_id = ? AND (d.state = 'DELIVERED' OR d.locked_until > ?)) f
       LEFT JOIN federation_peers p ON p.host = f.host
      WHERE p.gone_at IS NULL`,
    [outboxId, now, now, now, readersOf, now],
  );
}
