import type { Tx } from '../../db/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { enqueueDelivery } from '../enqueue-delivery.ts';
import type { JsonObject } from '../json.ts';
import { webhooksFor } from '../scope.ts';
import type { WebhookPlace } from '../scope.ts';
import type { WebhookEvent } from '../webhook-schema.ts';

/**
 * Renders the body of a delivery when it is sent, from the subject that was stored in the write of the event. Null if
 * what it is about was deleted.
 */
export type RenderBody<Subject> = (deps: WebhookDeps, subject: Subject) => Promise<JsonObject | null>;

/**
 * Enqueues a delivery for each webhook of a place, inside the write of the event.
 * @param subject is asked for only if there is a webhook
 * @param sentAs name of the event for receivers
 */
export async function enqueueStored<Subject extends object>(
  deps: WebhookDeps,
  tx: Tx,
  place: WebhookPlace,
  event: WebhookEvent,
  subject: () => Subject,
  sentAs: string = event,
): Promise<void> {
  const hooks = await webhooksFor(tx.manager, place, [event]);
  if (hooks.length === 0) return;
  const about = JSON.stringify(subject());
  for (const { id } of hooks) await enqueueDelivery(deps, tx, { webhookId: id, event: sentAs, about });
}

/** A repository with its owner; null if it was deleted. */
export const locate = async ({ repositories }: WebhookDeps, id: string): Promise<Located | null> =>
  (await repositories.locate([id])).get(id) ?? null;

/** Null without an id, and for a deleted account. */
export const personOf = async ({ accounts }: WebhookDeps, id: string | null) =>
  id === null ? null : ((await accounts.peopleById([id])).get(id) ?? null);
