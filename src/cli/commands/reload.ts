import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';

/** `hearth reload`: like SIGHUP, with a result. */
export function addReloadCommand(program: Command, run: Run): void {
  withExamples(
    program.command('reload').description('reload the settings file in the running server').action(run(reload)),
    'hearth reload',
  );
}

async function reload(cli: Cli): Promise<void> {
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
