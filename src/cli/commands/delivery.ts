import type { Command } from 'commander';
import { Option } from 'commander';
import type { DeliveryState, ListedDelivery } from '../../federation/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth delivery …`: deliveries of activities to other servers. */
export function addDeliveryCommands(program: Command, run: Run): void {
  const delivery = addNoun(program, 'delivery', 'deliveries of activities to other servers');
  const state = () =>
    new Option('--state <state>', 'only deliveries in this state').choices(['pending', 'delivered', 'failed']);
  withExamples(
    delivery
      .command('list')
      .description('list deliveries, newest first')
      .addOption(state())
      .option('--host <host>', 'filter by host')
      .action(run(listDeliveries)),
    'hearth delivery list --state failed',
  );
  withExamples(
    delivery
      .command('show')
      .description('show a delivery with its content')
      .argument('<id>', 'number')
      .action(run(showDelivery)),
    'hearth delivery show 17',
  );
  withExamples(
    delivery
      .command('retry')
      .description('retry a failed delivery as a new one')
      .argument('[id]', 'number')
      .addOption(state())
      .option('--host <host>', 'with --state failed: filter by host')
      .action(run(retryDelivery)),
    'hearth delivery retry 17',
    'hearth delivery retry --state failed --host forge.example.org',
  );
  withExamples(
    delivery
      .command('purge')
      .description('remove completed and failed deliveries')
      .option('--older <time>', 'only deliveries that finished longer ago than this', '30d')
      .option('--dry-run', 'only show what would be removed')
      .action(run(purgeDeliveries)),
    'hearth delivery purge --older 30d',
  );
}

const columns: Column<ListedDelivery>[] = [
  { title: 'ID', cell: ({ id }) => id, align: 'right' },
  { title: 'ACTIVITY', cell: ({ type }) => type, whole: true },
  { title: 'STATE', cell: ({ state }) => state, whole: true },
  { title: 'TARGET', cell: ({ targetInbox }) => targetInbox },
  { title: 'TRIES', cell: ({ attempts }) => attempts, align: 'right' },
  { title: 'LAST ERROR', cell: ({ lastError }) => lastError ?? '' },
  {
    title: 'NEXT',
    cell: ({ state, nextAttemptAt }) => ({ epochMs: state === 'PENDING' ? nextAttemptAt : null, otherwise: '' }),
  },
];

function toJson(row: ListedDelivery): object {
  return {
    id: row.id,
    activity: row.activityId,
    type: row.type,
    targetInbox: row.targetInbox,
    host: row.host,
    state: row.state,
    cancelledAt: isoOrNull(row.cancelledAt),
    attempts: row.attempts,
    lastError: row.lastError,
    nextAttemptAt: row.state === 'PENDING' ? isoOrNull(row.nextAttemptAt) : null,
    createdAt: isoOrNull(row.createdAt),
    settledAt: isoOrNull(row.settledAt),
  };
}

interface Filter {
  state?: 'pending' | 'delivered' | 'failed';
  host?: string;
}

const listDeliveries: Action<Filter, []> = async (cli, { state, host }) => {
  const { federation } = await cli.openModules();
  const rows = await federation.listDeliveries({ state: state?.toUpperCase() as DeliveryState | undefined, host });
  cli.output.list(rows, columns, ['delivery', 'deliveries'], toJson);
};

function readId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw invalid('usage', 'Enter a delivery number, as shown by hearth delivery list.');
  return Number(text);
}

const showDelivery: Action<object, [string]> = async (cli, _options, id) => {
  const { federation } = await cli.openModules();
  const row = await federation.showDelivery(readId(id));
  cli.output.show(
    [
      ['Id', row.id],
      ['Activity', row.activityId],
      ['Target', row.targetInbox],
      ['State', row.state],
      ['Tries', row.attempts],
      ['Last error', row.lastError ?? ''],
      ['Next', { epochMs: row.state === 'PENDING' ? row.nextAttemptAt : null, otherwise: 'never' }],
      ['Created', { epochMs: row.createdAt, otherwise: '' }],
      ['Document', row.activity],
    ],
    { ...toJson(row), document: JSON.parse(row.activity) as object },
  );
};

const retryDelivery: Action<Filter, [string | undefined]> = async (cli, { state, host }, id) => {
  const { federation } = await cli.openModules();
  if (id !== undefined) {
    const made = await federation.retryDelivery(readId(id));
    return cli.output.result(`Created delivery ${made} (PENDING) to retry ${id}, which stays FAILED.`, {
      id: made,
      retryOf: Number(id),
    });
  }
  if (state !== 'failed')
    throw invalid('usage', 'Specify a delivery number, or --state failed for all failed deliveries.');
  const made = await federation.retryFailedDeliveries(host?.toLowerCase() ?? null);
  cli.output.result(`Created ${made} PENDING deliveries. The FAILED ones stay.`, { made });
};

const purgeDeliveries: Action<{ older: string; dryRun?: true }, []> = async (cli, { older, dryRun }) => {
  const { readDuration } = await import('../../config/index.ts');
  const ms = readDuration(older);
  if (ms === undefined) throw invalid('usage', '--older must be a duration such as 30d or 12h.');
  const { federation } = await cli.openModules();
  const before = cli.clock.now() - ms;
  if (dryRun) {
    const count = await federation.countSettled(before);
    return cli.output.result(`Would remove ${count} deliveries.`, { removed: 0, wouldRemove: count });
  }
  const removed = await federation.purgeDeliveries(before);
  cli.output.result(`Removed ${removed} deliveries.`, { removed });
};
