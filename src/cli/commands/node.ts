import type { Command } from 'commander';
import type { ServingNode } from '../../nodes/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth node …`: the servers that share one PostgreSQL database. */
export function addNodeCommands(program: Command, run: Run): void {
  const node = addNoun(program, 'node', 'servers that use this database');
  withExamples(
    node
      .command('list')
      .description('list the servers that have used this PostgreSQL database within the last week')
      .action(run(listNodes)),
    'hearth node list',
    'hearth node list --json',
  );
}

const stateOf = ({ isLiving, hasStopped }: ServingNode): string =>
  isLiving ? 'serving' : hasStopped ? 'stopped' : 'gone';

const columns: Column<ServingNode>[] = [
  { title: 'HOST', cell: (row) => row.host, whole: true },
  { title: 'STATE', cell: stateOf, whole: true },
  { title: 'VERSION', cell: (row) => row.version, whole: true },
  { title: 'STARTED', cell: (row) => ({ epochMs: row.startedAt, otherwise: '' }) },
  { title: 'SEEN', cell: (row) => ({ epochMs: row.seenAt, otherwise: '' }) },
  { title: 'CLOCK', cell: (row) => `${row.clockAheadMs < 0 ? '' : '+'}${row.clockAheadMs} ms`, align: 'right' },
  { title: 'ID', cell: (row) => `${row.id}${row.isThis ? ' (this data folder)' : ''}`, whole: true },
];

async function listNodes(cli: Cli): Promise<void> {
  const { nodes } = await cli.openModules();
  cli.output.list(await nodes.list(), columns, ['server', 'servers'], (row) => ({
    id: row.id,
    host: row.host,
    version: row.version,
    state: stateOf(row),
    isThis: row.isThis,
    startedAt: new Date(row.startedAt).toISOString(),
    seenAt: new Date(row.seenAt).toISOString(),
    clockAheadMs: row.clockAheadMs,
    hostKey: row.hostKey,
  }));
}
