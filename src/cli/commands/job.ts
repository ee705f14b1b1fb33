import { Option } from 'commander';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { QueuedItem, QueueState } from '../../doctor/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { RetriedPush } from '../../repositories/index.ts';
import type { Action, Run } from '../action.ts';
import { callServer } from '../call-server.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth job …`: queued and failed items of all queues. */
export function addJobCommands(program: Command, run: Run): void {
  const job = addNoun(program, 'job', 'queued and failed work: deliveries, webhooks, mirrors, CI, pushes');
  withExamples(
    job
      .command('list')
      .description('list queued and failed work, newest first')
      .addOption(
        new Option('--state <state>', 'only work in this state').choices(['running', 'waiting', 'failing', 'failed']),
      )
      .option('--limit <count>', 'maximum number to list', '100')
      .action(run(listJobs)),
    'hearth job list',
    'hearth job list --state failed',
  );
  withExamples(
    job
      .command('retry')
      .description('retry failed work now')
      .argument('<id>', 'id, as shown by hearth job list')
      .action(run(retryJob)),
    'hearth job retry webhook-17',
    'hearth job retry push-0b9f2c1e-6d5a-4f1b-9c39-5f1c2a7d8e90',
  );
}

const columns: Column<QueuedItem>[] = [
  { title: 'ID', cell: ({ id }) => id, whole: true },
  { title: 'KIND', cell: ({ kind }) => kind },
  { title: 'ABOUT', cell: ({ about }) => about },
  { title: 'STATE', cell: ({ state }) => state, whole: true },
  { title: 'TRIES', cell: ({ tries }) => tries, align: 'right' },
  { title: 'NEXT', cell: ({ nextAt }) => ({ epochMs: nextAt, otherwise: '' }) },
  { title: 'ERROR', cell: ({ error }) => error ?? '' },
];

const toJson = ({ nextAt, ...work }: QueuedItem): object => ({ ...work, nextAt: isoOrNull(nextAt) });

const listJobs: Action<{ state?: QueueState; limit: string }, []> = async (cli, { state, limit }) => {
  if (!/^[1-9]\d{0,4}$/.test(limit)) throw invalid('usage', `${JSON.stringify(limit)} is not a valid limit.`);
  const { db } = await cli.openModules();
  const { listQueuedItems } = await import('../../doctor/index.ts');
  cli.output.list(
    await listQueuedItems(db, cli.clock.now(), { state, limit: Number(limit) }),
    columns,
    ['job', 'jobs'],
    toJson,
  );
};

const retryJob: Action<object, [string]> = async (cli, _options, id) => {
  const modules = await cli.openModules();
  const [, kind, key] = /^(\w+)-(.+)$/.exec(id) ?? [];
  if (kind === undefined || key === undefined)
    throw invalid('usage', `${JSON.stringify(id)} is not a job id. List the jobs with: hearth job list`);
  const outcome = await retry(cli, modules, kind, key);
  cli.output.result(outcome, { id });
};

async function retry(cli: Cli, modules: Modules, kind: string, key: string): Promise<string> {
  switch (kind) {
    case 'delivery':
      return `Created delivery ${await modules.federation.retryDelivery(Number(key))} to retry it. The old delivery stays FAILED.`;
    case 'webhook': {
      const made = await modules.webhooks.redeliverAny(Number(key));
      return `Created webhook delivery ${made} to send it again.`;
    }
    case 'message':
      await modules.outbox.retry(Number(key));
      return `The server will retry message ${key}.`;
    case 'mirror': {
      const mirrors = (await modules.mirrors.list()).filter(({ repositoryId }) => repositoryId.startsWith(key));
      if (mirrors.length !== 1) throw notFound('no_such_job', 'This mirror does not exist.');
      await modules.mirrors.sync(mirrors[0]!.repositoryId);
      await modules.mirrors.runDue();
      const { state } = (await modules.mirrors.find(mirrors[0]!.repositoryId))!;
      return `Retried the mirror: ${state}.`;
    }
    case 'push':
      return retryPush(cli, modules, key);
    default:
      throw invalid(
        'usage',
        kind === 'ci'
          ? 'To re-run a workflow run, use: hearth run rerun OWNER/NAME NUMBER'
          : 'The server retries this automatically.',
      );
  }
}

/** Notifies the remaining listeners of a push: in the running server, or here if there is none. */
async function retryPush(cli: Cli, { config, repositories }: Modules, id: string): Promise<string> {
  const push = await repositories.pushes.unpark(id);
  const reply = await callServer(config.dataDir, 'push.announce', { ...push });
  const { isAnnounced, error } =
    reply === null ? await repositories.pushes.announceAgain(push) : (JSON.parse(reply) as RetriedPush);
  if (isAnnounced) return 'Retried the push. All listeners are notified now.';
  cli.exitCode = 1;
  return `Retried the push, but it failed: ${error ?? 'see the server log'}.`;
}
