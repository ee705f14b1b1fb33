import { z } from 'zod';
import { giteaTime, numericId } from '../../../gitea-shapes/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { webhookContentTypes, webhookEvents, webhookKinds } from '../../../webhooks/index.ts';
import type { Webhook, WebhookEvent, WebhookInput, WebhookScope } from '../../../webhooks/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { ciScopePaths, inPath } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';
import { rowNamed } from '../shapes/ids.ts';

/** Webhooks at Gitea's URLs and in its form; `webhooks.ts` has those of this server. */
const time = z.iso.datetime();

const hook = z
  .strictObject({
    id: z.int().describe('Derived from the UUID'),
    type: z.enum(webhookKinds),
    name: z.string(),
    branch_filter: z.string(),
    config: z.record(z.string(), z.string()).describe('url, content_type; the secret is never returned'),
    events: z.array(z.string()),
    authorization_header: z.string().describe('Never returned in plain text: empty, or ***'),
    active: z.boolean(),
    updated_at: time,
    created_at: time,
  })
  .meta({ id: 'Hook' });

const names = z.array(z.string().max(100)).max(50);
const config = z.record(z.string().max(50), z.string().max(2000));
const editFields = {
  config: config.optional().describe('url, content_type (json or form), secret, channel'),
  events: names
    .optional()
    .describe('Defaults to push, also if empty. `issues` and `pull_request` include all related events'),
  active: z.boolean().optional(),
  branch_filter: z.string().max(200).optional().describe('Branch pattern'),
  authorization_header: z.string().max(500).optional(),
  name: z.string().max(255).optional().describe('Accepted but not stored'),
};
const newHook = z
  .object({ type: z.enum(webhookKinds).describe('Type of the receiver'), ...editFields, config })
  .meta({ id: 'NewHook' });
const hookEdit = z.object(editFields).meta({ id: 'HookEdit' });

/** Gitea's name for the end of a run. */
const namesHere: Readonly<Record<string, WebhookEvent>> = { workflow_run: 'run' };
const namesThere: Readonly<Record<string, string>> = { run: 'workflow_run' };
/** In Gitea these mean all events of their subject, and only themselves with `_only`. */
const umbrellas = ['issues', 'pull_request'];

/** The events that a receiver requests; names without an event on this server are omitted. */
function eventsIn(asked: readonly string[]): WebhookEvent[] {
  const wanted = new Set(asked.length === 0 ? ['push'] : asked);
  if (wanted.has('*')) return [...webhookEvents];
  const found = webhookEvents.filter((event) => {
    if (wanted.has(namesThere[event] ?? event) || wanted.has(event) || wanted.has(`${event}_only`)) return true;
    const subject = event.startsWith('issue') ? 'issues' : event.startsWith('pull_request') ? 'pull_request' : null;
    return subject !== null && umbrellas.includes(subject) && wanted.has(subject);
  });
  const named = [...wanted].flatMap((name) => namesHere[name] ?? []);
  return [...new Set([...found, ...named])];
}

const show = (one: Webhook): z.output<typeof hook> => ({
  id: numericId(one.id),
  type: one.kind,
  name: '',
  branch_filter: one.branchFilter,
  config: {
    content_type: one.contentType,
    url: one.url,
    ...(one.channel !== '' && { channel: one.channel }),
  },
  events: one.events.map((event) => namesThere[event] ?? event),
  authorization_header: one.hasAuthorization ? '***' : '',
  active: one.isActive,
  updated_at: giteaTime(one.updatedAt),
  created_at: giteaTime(one.createdAt),
});

type Fields = z.output<typeof hookEdit>;

function inputOf(
  { config = {}, events, active, branch_filter, authorization_header }: Fields,
  old?: Webhook,
): WebhookInput {
  const contentType = webhookContentTypes.find((type) => type === config['content_type']);
  return {
    url: config['url'] ?? old?.url ?? '',
    secret: config['secret'],
    events: events === undefined ? (old?.events ?? ['push']) : eventsIn(events),
    isActive: active,
    contentType,
    branchFilter: branch_filter,
    channel: config['channel'],
    // As shown to callers.
    authorization: authorization_header === '***' ? undefined : authorization_header,
  };
}

function operationsOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Webhooks', access, cost: 'rows' } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall) as WebhookScope;
  const viewerOf = (call: unknown) => (call as AnyCall).viewer;
  const one = `${at}/hooks/{id}` as const;
  /** Throws `webhook_not_found`. */
  const hookOf = async (call: unknown): Promise<Webhook> => {
    const { deps, params } = call as AnyCall;
    const found = rowNamed(await deps.webhooks.list(scope(call)), inPath(params, 'id'));
    if (found === undefined) throw notFound('webhook_not_found', 'There is no such webhook.');
    return found;
  };
  return [
    operation({
      ...common,
      id: `list${word}Hooks`,
      method: 'GET',
      path: `${at}/hooks`,
      status: 200,
      refuses,
      summary: `List the webhooks ${whose} in Gitea’s format`,
      response: z.array(hook),
      run: async (call) => json((await call.deps.webhooks.list(scope(call))).map(show)),
    }),
    operation({
      ...common,
      id: `create${word}Hook`,
      method: 'POST',
      path: `${at}/hooks`,
      status: 201,
      refuses: [...refuses, 409],
      summary: `Create a webhook ${whose} in Gitea’s format`,
      description: 'The webhook is active unless `active` is false.',
      body: newHook,
      response: hook,
      async run(call) {
        const { type: kind, active = true, ...fields } = call.body;
        const input = { ...inputOf({ ...fields, active }), kind };
        return created(show(await call.deps.webhooks.add(viewerOf(call), scope(call), input)));
      },
    }),
    operation({
      ...common,
      id: `get${word}Hook`,
      method: 'GET',
      path: one,
      status: 200,
      refuses: [404],
      summary: `Get a webhook ${whose} in Gitea’s format`,
      response: hook,
      run: async (call) => json(show(await hookOf(call))),
    }),
    operation({
      ...common,
      id: `edit${word}Hook`,
      method: 'PATCH',
      path: one,
      status: 200,
      refuses: [404],
      summary: `Edit a webhook ${whose} in Gitea’s format`,
      description: 'Omitted fields remain unchanged.',
      body: hookEdit,
      response: hook,
      async run(call) {
        const old = await hookOf(call);
        const input = inputOf(call.body, old);
        return json(show(await call.deps.webhooks.edit(viewerOf(call), scope(call), old.id, input)));
      },
    }),
    operation({
      ...common,
      id: `delete${word}Hook`,
      method: 'DELETE',
      path: one,
      status: 204,
      refuses: [404],
      summary: `Delete a webhook ${whose} with its pending deliveries (Gitea-compatible)`,
      async run(call) {
        await call.deps.webhooks.remove(viewerOf(call), scope(call), (await hookOf(call)).id);
        return noContent();
      },
    }),
    operation({
      ...common,
      id: `try${word}Hook`,
      method: 'POST',
      path: `${one}/tests`,
      status: 204,
      refuses: [404],
      summary: `Send a test delivery to a webhook ${whose}`,
      async run(call) {
        await call.deps.webhooks.test(scope(call), (await hookOf(call)).id);
        return noContent();
      },
    }),
  ];
}

export const hookOperations = ciScopePaths.flatMap((path) => operationsOf(path));
