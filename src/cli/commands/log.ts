import type { Command } from 'commander';
import type { AuditEntry } from '../../audit/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../output.ts';
import type { Column } from '../output.ts';

/** `hearth log …`: the audit log. */
export function addLogCommands(program: Command, run: Run): void {
  const log = addNoun(program, 'log', 'who administered what, and changed who may do what');
  withExamples(
    log.command('list').description('list the newest entries of the audit log')
      .option('--limit <count>', 'how many', '50')
      .action(run(listEntries)),
    'hearth log list --limit 200 --json',
  );
  withExamples(
    log.command('verify').description('look whether an entry was changed or taken out').action(run(verify)),
    'hearth log verify && echo fine',
  );
}

const columns: Column<AuditEntry>[] = [
  { title: 'ID', cell: (row) => row.id, align: 'right' },
  { title: 'WHEN', cell: (row) => never(row.at) },
  { title: 'WHO', cell: (row) => (row.actor.length === 36 ? { id: row.actor } : row.actor) },
  { title: 'ADDRESS', cell: (row) => row.address ?? '' },
  { title: 'ACT', cell: (row) => row.event, whole: true },
  { title: 'DETAILS', cell: (row) => JSON.stringify(row.details) },
];

async function listEntries(cli: Cli, { limit }: { limit: string }): Promise<void> {
  if (!/^[1-9]\d{0,5}$/.test(limit)) throw invalid('usage', `${JSON.stringify(limit)} is not a number of entries.`);
  const { audit } = await cli.openRooms();
  const rows = await audit.list({ limit: Number(limit) });
  cli.output.list(rows, columns, ['entry', 'entries'], ({ at, ...row }) => ({ ...row, at: isoOrNull(at) }));
}

async function verify(cli: Cli): Promise<void> {
  const { audit } = await cli.openRooms();
  const found = await audit.findBreak();
  if (found !== null) cli.exitCode = 7;
  cli.output.print(found === null ? 'ok\n' : `entry ${found.id} ${found.why}\n`, { ok: found === null, ...(found ?? {}) });
}
