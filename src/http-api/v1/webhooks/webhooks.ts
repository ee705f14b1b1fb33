import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import type { Webhook, WebhookDelivery, WebhookScope } from '../../../webhooks/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { ciScopePaths, inPath } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';
import { paging } from '../shapes/schemas.ts';
import { queuedDelivery, webhook as webhookShape, webhookDelivery, webhookInput } from './webhook-schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

const showWebhook = ({
  id,
  url,
  hasSecret,
  events,
  isActive,
  createdAt,
  updatedAt,
}: Webhook): z.output<typeof webhookShape> => ({
  id,
  url,
  hasSecret,
  events,
  active: isActive,
  createdAt: isoTime(createdAt),
  updatedAt: isoTime(updatedAt),
});

const showDelivery = ({
  id,
  uuid,
  event,
  state,
  attempts,
  status,
  response,
  error,
  tookMs,
  createdAt,
  triedAt,
  redeliveryOf,
}: WebhookDelivery): z.output<typeof webhookDelivery> => ({
  id,
  uuid,
  event,
  state,
  attempts,
  status,
  response,
  error,
  tookMs,
  createdAt: isoTime(createdAt),
  triedAt: isoTimeOrNull(triedAt),
  redeliveryOf,
});

/** Throws `delivery_not_found`, also for an invalid number. */
function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw notFound('delivery_not_found', 'There is no such delivery.');
  return Number(text);
}

function operationsOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Webhooks', access, cost: 'rows' } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall) as WebhookScope;
  const one = `${at}/webhooks/{webhook}` as const;
  const hookOf = ({ params }: { params: Readonly<Record<string, string>> }) => inPath(params, 'webhook');
  const viewerOf = (call: unknown) => (call as AnyCall).viewer;
  return [
    operation({
      ...common,
      id: `list${word}Webhooks`,
      method: 'GET',
      path: `${at}/webhooks`,
      status: 200,
      refuses,
      summary: `List the webhooks ${whose}`,
      response: z.array(webhookShape),
      run: async (call) => json((await call.deps.webhooks.list(scope(call))).map(showWebhook)),
    }),
    operation({
      ...common,
      id: `add${word}Webhook`,
      method: 'POST',
      path: `${at}/webhooks`,
      status: 201,
      refuses: [...refuses, 409],
      summary: `Add a webhook ${whose}`,
      body: webhookInput,
      response: webhookShape,
      async run(call) {
        const { active, ...input } = call.body;
        return created(
          showWebhook(await call.deps.webhooks.add(viewerOf(call), scope(call), { ...input, isActive: active })),
        );
      },
    }),
    operation({
      ...common,
      id: `edit${word}Webhook`,
      method: 'PUT',
      path: one,
      status: 200,
      refuses: [404],
      summary: `Edit a webhook ${whose}`,
      body: webhookInput,
      response: webhookShape,
      async run(call) {
        const { active, ...input } = call.body;
        return json(
          showWebhook(
            await call.deps.webhooks.edit(viewerOf(call), scope(call), hookOf(call), { ...input, isActive: active }),
          ),
        );
      },
    }),
    operation({
      ...common,
      id: `remove${word}Webhook`,
      method: 'DELETE',
      path: one,
      status: 204,
      refuses: [404],
      summary: `Delete a webhook ${whose} with its pending deliveries`,
      async run(call) {
        await call.deps.webhooks.remove(viewerOf(call), scope(call), hookOf(call));
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `test${word}Webhook`,
      method: 'POST',
      path: `${one}/test`,
      status: 200,
      refuses: [404],
      summary: 'Send a test delivery',
      response: queuedDelivery,
      run: async (call) => json({ id: await call.deps.webhooks.test(scope(call), hookOf(call)) }),
    }),
    operation({
      ...common,
      id: `list${word}WebhookDeliveries`,
      method: 'GET',
      path: `${one}/deliveries`,
      status: 200,
      refuses: [404],
      isPaged: true,
      summary: 'List the deliveries of a webhook, newest first',
      query: z.object(paging),
      response: z.array(webhookDelivery),
      async run(call) {
        const { limit, after } = call.query;
        const rows = await call.deps.webhooks.listDeliveries(scope(call), hookOf(call), {
          limit: limit + 1,
          before: after === undefined ? undefined : readNumber(after),
        });
        const shown = rows.slice(0, limit);
        return listed(shown.map(showDelivery), rows.length > limit ? String(shown.at(-1)!.id) : null);
      },
    }),
    operation({
      ...common,
      id: `redeliver${word}Webhook`,
      method: 'POST',
      path: `${one}/deliveries/{delivery}/redeliver`,
      status: 200,
      refuses: [404],
      summary: 'Redeliver a delivery as a new delivery',
      response: queuedDelivery,
      run: async (call) =>
        json({
          id: await call.deps.webhooks.redeliver(
            scope(call),
            hookOf(call),
            readNumber(inPath((call as unknown as AnyCall).params, 'delivery')),
          ),
        }),
    }),
  ];
}

const [ofRepository, ofOrganisation] = ['/repos/', '/orgs/'].map(
  (start) => ciScopePaths.find(({ at }) => at.startsWith(start))!,
);

export const webhooksOfRepositories = operationsOf(ofRepository!);
export const webhooksOfOrganisations = operationsOf(ofOrganisation!);
