import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { Webhook, WebhookDelivery, WebhookScope } from '../../webhooks/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { findById } from './find-by-id.ts';
import { findRepository } from './find-repository.ts';

/** Equal to the list of the module, which help need not load; a test compares them. */
export const webhookEventNames = [
  'push',
  'create',
  'delete',
  'fork',
  'repository',
  'run',
  'status',
  'deployment',
  'deployment_status',
  'release',
  'package',
  'gollum',
  'issues',
  'issue_comment',
  'issue_label',
  'issue_assign',
  'issue_milestone',
  'pull_request',
  'pull_request_sync',
  'pull_request_comment',
  'pull_request_label',
  'pull_request_assign',
  'pull_request_milestone',
  'pull_request_review_request',
  'pull_request_review_approved',
  'pull_request_review_rejected',
  'pull_request_review_comment',
];

/** `hearth webhook …`: webhooks for pushes, runs and issues. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhook = addNoun(program, 'webhook', 'webhooks for pushes, runs and issues');
  const place = 'repository as owner/name, or organisation';
  withExamples(
    webhook.command('list').description('list webhooks').argument('<place>', place).action(run(listWebhooks)),
    'hearth webhook list alice/garden',
    'hearth webhook list acme',
  );
  withExamples(
    webhook
      .command('add')
      .description('add a webhook')
      .argument('<place>', place)
      .argument('<url>', 'https URL')
      .option('--events <list>', `events, separated by commas: ${webhookEventNames.join(', ')}`, 'push')
      .option('--secret-file <file>', 'file with the secret that signs messages')
      .option('--secret-stdin', 'read the secret from standard input')
      .action(run(addWebhook)),
    'hearth webhook add alice/garden https://ci.example.org/hook --events push,create',
  );
  withExamples(
    webhook
      .command('remove')
      .alias('delete')
      .description('remove a webhook')
      .argument('<place>', place)
      .argument('<id>', 'id')
      .option('--dry-run', 'only show which one would be removed')
      .action(run(removeWebhook)),
    'hearth webhook remove alice/garden 3f2c81aa',
  );
  withExamples(
    webhook
      .command('test')
      .description('send a test delivery')
      .argument('<place>', place)
      .argument('<id>', 'id')
      .action(run(testWebhook)),
    'hearth webhook test alice/garden 3f2c81aa',
  );
  withExamples(
    webhook
      .command('deliveries')
      .description("list a webhook's deliveries, newest first")
      .argument('<place>', place)
      .argument('<id>', 'id')
      .option('--redeliver <number>', 'redeliver the delivery with this number')
      .action(run(listDeliveries)),
    'hearth webhook deliveries alice/garden 3f2c81aa',
    'hearth webhook deliveries alice/garden 3f2c81aa --redeliver 17',
  );
}

async function scopeOf(modules: Modules, text: string): Promise<WebhookScope> {
  if (text.includes('/')) return { kind: 'repository', id: (await findRepository(modules, text)).repository.id };
  const owner = await modules.owners.resolve(text);
  if (owner?.kind !== 'organisation')
    throw notFound(
      'organisation_not_found',
      `The organisation ${text} does not exist. To specify a repository, use owner/name.`,
    );
  return { kind: 'organisation', id: owner.id };
}

async function find(cli: Cli, place: string, id: string) {
  const modules = await cli.openModules();
  const scope = await scopeOf(modules, place);
  return {
    modules,
    scope,
    webhook: findById(await modules.webhooks.list(scope), id, { what: 'webhook', reason: 'webhook_not_found' }),
  };
}

const columns: Column<Webhook>[] = [
  { title: 'ID', cell: ({ id }) => ({ id }) },
  { title: 'ADDRESS', cell: ({ url }) => url },
  { title: 'EVENTS', cell: ({ events }) => events.join(',') },
  { title: 'STATE', cell: ({ isActive, last }) => (isActive ? (last?.state.toLowerCase() ?? 'new') : 'off') },
  { title: 'LAST', cell: ({ last }) => never(last?.triedAt ?? null) },
  { title: 'ERROR', cell: ({ last }) => last?.error ?? '' },
];

const toJson = ({ id, url, hasSecret, events, isActive, createdAt, last }: Webhook): object => ({
  id,
  url,
  hasSecret,
  events,
  active: isActive,
  createdAt: isoOrNull(createdAt),
  lastState: last?.state ?? null,
  lastStatus: last?.status ?? null,
  lastError: last?.error ?? null,
  lastTriedAt: isoOrNull(last?.triedAt ?? null),
});

const listWebhooks: Action<object, [string]> = async (cli, _options, place) => {
  const modules = await cli.openModules();
  cli.output.list(await modules.webhooks.list(await scopeOf(modules, place)), columns, ['webhook', 'webhooks'], toJson);
};

interface AddOptions {
  events: string;
  secretFile?: string;
  secretStdin?: true;
}

const addWebhook: Action<AddOptions, [string, string]> = async (cli, { events, ...from }, place, url) => {
  const modules = await cli.openModules();
  const scope = await scopeOf(modules, place);
  const secret = from.secretFile === undefined && !from.secretStdin ? undefined : await readSecret(cli, from);
  const made = await modules.webhooks.add(localAdministrator, scope, {
    url,
    secret,
    events: events.split(',').map((event) => event.trim()),
  });
  cli.output.result(
    `Added webhook ${made.id} for ${place}. Try it: hearth webhook test ${place} ${made.id.slice(0, 8)}`,
    toJson(made),
  );
};

const removeWebhook: Action<{ dryRun?: true }, [string, string]> = async (cli, { dryRun }, place, id) => {
  const { modules, scope, webhook } = await find(cli, place, id);
  if (dryRun) return cli.output.result(`Would remove the webhook to ${webhook.url}.`, toJson(webhook));
  await cli.confirm(`Remove the webhook to ${webhook.url} with its secret and deliveries?`);
  await modules.webhooks.remove(localAdministrator, scope, webhook.id);
  cli.output.result(`Removed the webhook to ${webhook.url}.`, toJson(webhook));
};

/** Sends at once; a running server and this process never send the same row. */
const testWebhook: Action<object, [string, string]> = async (cli, _options, place, id) => {
  const { modules, scope, webhook } = await find(cli, place, id);
  const number = await modules.webhooks.test(scope, webhook.id);
  await printDeliveryResult(cli, modules, scope, webhook.id, number);
};

async function printDeliveryResult(
  cli: Cli,
  modules: Modules,
  scope: WebhookScope,
  webhookId: string,
  number: number,
): Promise<void> {
  await modules.webhooks.drain();
  const sent = (await modules.webhooks.listDeliveries(scope, webhookId, { limit: 50 })).find(
    (row) => row.id === number,
  )!;
  const line =
    sent.error === null && sent.status !== null
      ? `The server responded with status ${sent.status} after ${sent.tookMs} ms.`
      : (sent.error ?? 'It is being sent.');
  cli.output.result(`Delivery ${number}: ${line}`, deliveryToJson(sent));
}

const deliveryColumns: Column<WebhookDelivery>[] = [
  { title: 'NUMBER', cell: ({ id }) => id, align: 'right' },
  { title: 'EVENT', cell: ({ event }) => event, whole: true },
  { title: 'STATE', cell: ({ state }) => state.toLowerCase() },
  { title: 'STATUS', cell: ({ status }) => status ?? '' },
  { title: 'TRIES', cell: ({ attempts }) => attempts, align: 'right' },
  { title: 'WHEN', cell: ({ triedAt, createdAt }) => ({ epochMs: triedAt ?? createdAt, otherwise: '' }) },
  { title: 'ERROR', cell: ({ error }) => error ?? '' },
];

const deliveryToJson = ({
  id,
  uuid,
  event,
  state,
  attempts,
  status,
  error,
  tookMs,
  createdAt,
  triedAt,
}: WebhookDelivery): object => ({
  id,
  uuid,
  event,
  state,
  attempts,
  status,
  error,
  tookMs,
  createdAt: isoOrNull(createdAt),
  triedAt: isoOrNull(triedAt),
});

const listDeliveries: Action<{ redeliver?: string }, [string, string]> = async (cli, { redeliver }, place, id) => {
  const { modules, scope, webhook } = await find(cli, place, id);
  if (redeliver === undefined) {
    const rows = await modules.webhooks.listDeliveries(scope, webhook.id, { limit: 100 });
    return cli.output.list(rows, deliveryColumns, ['delivery', 'deliveries'], deliveryToJson);
  }
  if (!/^\d{1,15}$/.test(redeliver))
    throw invalid('usage', 'Enter a delivery number, as shown by hearth webhook deliveries.');
  await printDeliveryResult(
    cli,
    modules,
    scope,
    webhook.id,
    await modules.webhooks.redeliver(scope, webhook.id, Number(redeliver)),
  );
};
