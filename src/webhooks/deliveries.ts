import { LessThan } from 'typeorm';
import { notFound } from '../kernel/index.ts';
import { peopleOfCommits, withFiles } from './events/commit-payload.ts';
import { pushPayload } from './events/push.ts';
import { locate } from './events/stored-event.ts';
import { findWebhook } from './manage-webhooks.ts';
import { repositoryPayload } from '../gitea-shapes/index.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { scopeOf } from './scope.ts';
import type { WebhookScope } from './scope.ts';
import { webhookDeliverySchema, webhookSchema } from './webhook-schema.ts';
import type { WebhookDeliveryRow } from './webhook-schema.ts';

export type WebhookDelivery = WebhookDeliveryRow;

/** Deliveries of a webhook, newest first. Throws `webhook_not_found`. */
export async function listDeliveries(
  deps: WebhookDeps,
  scope: WebhookScope,
  webhookId: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<WebhookDelivery[]> {
  await findWebhook(deps, scope, webhookId);
  return deps.db.read.find(webhookDeliverySchema, {
    where: { webhookId, ...(before === undefined ? {} : { id: LessThan(before) }) },
    order: { id: 'DESC' },
    take: limit,
  });
}

/** Sends a copy of a delivery as a new one. Throws `webhook_not_found`, `delivery_not_found`. */
export async function redeliver(
  deps: WebhookDeps,
  scope: WebhookScope,
  webhookId: string,
  deliveryId: number,
): Promise<number> {
  await findWebhook(deps, scope, webhookId);
  return deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(webhookDeliverySchema, { id: deliveryId, webhookId });
    if (row === null) throw notFound('delivery_not_found', 'There is no such delivery.');
    const { event, about, payload } = row;
    return enqueueDelivery(deps, tx, { webhookId, event, about, payload, redeliveryOf: deliveryId });
  });
}

/** Redelivers by the id of the delivery alone, for administrators. */
export async function redeliverAny(deps: WebhookDeps, deliveryId: number): Promise<number> {
  const row = await deps.db.read.findOneBy(webhookDeliverySchema, { id: deliveryId });
  const hook = row === null ? null : await deps.db.read.findOneBy(webhookSchema, { id: row.webhookId });
  if (hook === null) throw notFound('delivery_not_found', 'There is no such delivery.');
  return redeliver(deps, scopeOf(hook), hook.id, deliveryId);
}

/**
 * Sends a test delivery: the push of the last commit of the default branch, or `ping` if there is no commit or no
 * repository. Throws `webhook_not_found`.
 */
export async function testWebhook(deps: WebhookDeps, scope: WebhookScope, webhookId: string): Promise<number> {
  const hook = await findWebhook(deps, scope, webhookId);
  const { event, payload } = (scope.kind === 'repository' ? await lastPush(deps, scope.id) : null) ?? {
    event: 'ping',
    payload: { zen: 'It works.', hook: { id: hook.id, url: hook.url, events: hook.events, active: hook.isActive } },
  };
  return deps.db.write((tx) => enqueueDelivery(deps, tx, { webhookId, event, payload: JSON.stringify(payload) }));
}

async function lastPush(deps: WebhookDeps, repositoryId: string) {
  const { git, settings } = deps;
  const located = await locate(deps, repositoryId);
  if (located === null) return null;
  const { branch, oid } = await git.refs.head(located.path);
  if (branch === null || oid === null)
    return { event: 'ping', payload: { zen: 'It works.', repository: repositoryPayload(located, settings) } };
  const commit = await git.objects.commit(located.path, oid);
  const facts = {
    ref: `refs/heads/${branch}`,
    oldId: commit.parents[0] ?? '0'.repeat(oid.length),
    newId: oid,
    commits: [await withFiles(deps, located.path, commit)],
    total: 1,
    people: await peopleOfCommits(deps, [commit]),
    pusher: null,
  };
  return { event: 'push', payload: pushPayload(located, facts, settings) };
}
