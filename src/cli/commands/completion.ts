import { Argument } from 'commander';
import type { Command } from 'commander';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `hearth completion …`: what a shell needs to complete commands, options and names. */
export function addCompletionCommands(program: Command, run: Run): void {
  const printScript: Action<object, [(typeof shells)[number]]> = async (cli, _options, shell) => {
    const [{ commandShapes, globalOptions }, { bashScript }, { zshScript }, { fishScript }] = await Promise.all([
      import('../completion/command-shapes.ts'),
      import('../completion/bash.ts'),
      import('../completion/zsh.ts'),
      import('../completion/fish.ts'),
    ]);
    const tree = { shapes: commandShapes(program), everywhere: globalOptions(program) };
    cli.output.print({ bash: bashScript, zsh: zshScript, fish: fishScript }[shell](tree));
  };
  withExamples(
    program
      .command('completion')
      .description('print a script that completes commands, options and names in a shell')
      .addArgument(new Argument('<shell>', 'which shell').choices(shells))
      .action(run(printScript)),
    'source <(hearth completion bash)',
    'hearth completion bash > /etc/bash_completion.d/hearth',
    'hearth completion zsh > "${fpath[1]}/_hearth"',
    'hearth completion fish > ~/.config/fish/completions/hearth.fish',
  );
  program
    .command('complete-names', { hidden: true })
    .description('what those scripts ask: names that begin so')
    .argument('<kind>')
    .argument('[beginning]')
    .action(run(printNames));
}

/** Silent about everything that is wrong: a shell shows what it gets. */
const printNames: Action<object, [string, string | undefined]> = async (cli, _options, kind, beginning = '') => {
  const [{ nameKinds }, { databaseFileBelow, knownNames }, { becomeOwnerOf }] = await Promise.all([
    import('../completion/command-shapes.ts'),
    import('../completion/known-names.ts'),
    import('../data-dir.ts'),
  ]);
  const known = nameKinds.find((each) => each === kind);
  const loaded = await cli.loadConfig().catch(() => null);
  if (known === undefined || loaded === null) return;
  const { dataDir, backup } = loaded.config;
  // Reading makes the log's two files where there are none; they must not become root's.
  becomeOwnerOf(dataDir, cli.process);
  const names = knownNames(known, beginning, { databaseFile: databaseFileBelow(dataDir), backups: backup.folder });
  cli.output.print(names.map((name) => `${name}\n`).join(''), names);
};
