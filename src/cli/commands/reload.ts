import type { Command } from 'commander';
import { invalid, unavailable } from '../../kernel/index.ts';
import type { NodeReload } from '../../nodes/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth reload`: like SIGHUP, with a result. */
export function addReloadCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('reload')
      .description('reload the settings file in the running server')
      .option('--all', 'in all servers that use this PostgreSQL database, each with its own settings file')
      .action(run(reload)),
    'hearth reload',
    'hearth reload --all',
  );
}

/** Nodes look every five seconds; one that is busy or paused gets three turns. */
const waitMs = 15_000;

async function reloadAll(cli: Cli): Promise<void> {
  const { nodes } = await cli.openModules();
  const answers = await nodes.reloadAll(waitMs);
  if (answers.length === 0) throw unavailable('server_not_running', 'No server that uses this database is running.');
  const lines = answers.flatMap(({ id, host, outcome, refusal, state }) => {
    const node = { host, id, key: null as string | null };
    const listed = [
      ...(outcome?.applied ?? []).map((key) => ({ ...node, key, state: 'applied' })),
      ...(outcome?.needRestart ?? []).map((key) => ({ ...node, key, state: 'needs a restart' })),
    ];
    return listed.length > 0
      ? listed
      : [{ ...node, state: state === 'reloaded' ? 'nothing has changed' : (refusal ?? states[state]) }];
  });
  cli.output.list(lines, columns, ['line', 'lines'], (line) => line);
  if (answers.some(({ state }) => state === 'refused' || state === 'silent')) cli.exitCode = 7;
}

const states: Record<NodeReload['state'], string> = {
  reloaded: 'reloaded',
  refused: 'refused',
  restarted: 'has restarted meanwhile',
  silent: 'has not answered yet',
};

interface Line {
  host: string;
  id: string;
  key: string | null;
  state: string;
}

const columns: Column<Line>[] = [
  { title: 'HOST', cell: ({ host }) => host, whole: true },
  { title: 'ID', cell: ({ id }) => id, whole: true },
  { title: 'SETTING', cell: ({ key }) => key ?? '', whole: true },
  { title: 'STATE', cell: ({ state }) => state },
];

async function reload(cli: Cli, { all }: { all?: true }): Promise<void> {
  if (all === true && (await cli.loadConfig()).config.database.url !== null) return reloadAll(cli);
  const [{ config }, { runControlCommand }, { refuseForeign }] = await Promise.all([
    cli.loadConfig(),
    import('../../control/index.ts'),
    import('../data-dir.ts'),
  ]);
  refuseForeign(config.dataDir);
  let text = '';
  let stderr = '';
  const code = await runControlCommand(
    config.dataDir,
    { command: 'reload' },
    {
      output: (chunk) => void (text += chunk.toString('utf8')),
      writeError: (words) => void (stderr += words),
    },
  );
  if (code !== 0) throw invalid('config_not_reloaded', stderr);
  const outcome = JSON.parse(text) as { applied: string[]; needRestart: string[] };
  const lines = [
    ...outcome.applied.map((key) => `${key}\tapplied\n`),
    ...outcome.needRestart.map((key) => `${key}\tneeds a restart\n`),
  ];
  cli.output.print(lines.join(''), outcome);
  if (lines.length === 0) cli.output.message('Nothing has changed.');
}
