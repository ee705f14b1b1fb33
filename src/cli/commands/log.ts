import { Option } from 'commander';
import type { Command } from 'commander';
import type { AuditEntry } from '../../audit/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth log …`: the audit log. */
export function addLogCommands(program: Command, run: Run): void {
  const log = addNoun(program, 'log', 'audit log and server log').alias('audit');
  withExamples(
    log
      .command('list')
      .description('list the newest audit log entries')
      .option('--limit <count>', 'maximum number to list', '50')
      .action(run(listEntries)),
    'hearth log list --limit 200 --json',
  );
  withExamples(
    log
      .command('tail')
      .description("show the newest lines of the running server's log")
      .option('-f, --follow', 'keep printing new lines until Ctrl-C')
      .option('-n, --lines <count>', 'number of lines', '50')
      .addOption(
        new Option('--level <level>', 'only lines of this level or above').choices(['debug', 'info', 'warn', 'error']),
      )
      .action(run(tail)),
    'hearth log tail --follow --level warn',
  );
  withExamples(
    log
      .command('verify')
      .description('verify that no entry was changed or removed')
      .option('--known <id:hash>', 'audit log entry from the server log (audit.entry) that must still exist')
      .action(run(verify)),
    'hearth log verify && echo fine',
  );
}

async function tail(
  cli: Cli,
  { follow, lines, level }: { follow?: true; lines: string; level?: string },
): Promise<void> {
  if (!/^\d{1,5}$/.test(lines)) throw invalid('usage', `${JSON.stringify(lines)} is not a valid number of lines.`);
  const [{ config }, { runControlCommand }, { readableLine }, { refuseForeign }] = await Promise.all([
    cli.loadConfig(),
    import('../../control/index.ts'),
    import('../serving/logger.ts'),
    import('../data-dir.ts'),
  ]);
  refuseForeign(config.dataDir);
  const { json, plain } = cli.flags;
  let rest = '';
  const request = {
    command: 'log.tail',
    parameters: { lines: Number(lines), follow: follow === true, ...(level === undefined ? {} : { level }) },
  };
  cli.exitCode = (await runControlCommand(config.dataDir, request, {
    output(chunk) {
      const parts = (rest + chunk.toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) cli.process.stdout.write(json || plain ? `${line}\n` : readableLine(line));
    },
    writeError: (text) => cli.output.message(text),
  })) as typeof cli.exitCode;
}

const columnsWith = (nameOf: (actor: string) => string): Column<AuditEntry>[] => [
  { title: 'ID', cell: (row) => row.id, align: 'right' },
  { title: 'WHEN', cell: (row) => never(row.at) },
  { title: 'WHO', cell: (row) => nameOf(row.actor), whole: true },
  { title: 'ADDRESS', cell: (row) => row.address ?? '' },
  { title: 'ACT', cell: (row) => row.event, whole: true },
  { title: 'DETAILS', cell: (row) => JSON.stringify(row.details) },
];

async function listEntries(cli: Cli, { limit }: { limit: string }): Promise<void> {
  if (!/^[1-9]\d{0,5}$/.test(limit)) throw invalid('usage', `${JSON.stringify(limit)} is not a valid limit.`);
  const { accounts, audit } = await cli.openModules();
  const rows = await audit.list({ limit: Number(limit) });
  const people = await accounts.peopleById(rows.flatMap(({ actor }) => (actor.length === 36 ? actor : [])));
  const columns = columnsWith((actor) => people.get(actor)?.username ?? actor);
  cli.output.list(rows, columns, ['entry', 'entries'], ({ at, ...row }) => ({
    ...row,
    actorName: people.get(row.actor)?.username ?? null,
    at: isoOrNull(at),
  }));
}

async function verify(cli: Cli, options: { known?: string }): Promise<void> {
  const [, id, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(options.known ?? '') ?? [];
  if (options.known !== undefined && hash === undefined)
    throw invalid('usage', `${JSON.stringify(options.known)} is not a valid entry. Use its number and hash.`);
  const { audit } = await cli.openModules();
  const found = await audit.findBreak(hash === undefined ? null : { id: Number(id), hash });
  if (found !== null) cli.exitCode = 7;
  cli.output.print(found === null ? 'ok\n' : `entry ${found.id} ${found.why}\n`, {
    ok: found === null,
    ...(found ?? {}),
  });
}
