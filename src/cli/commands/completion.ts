import { Argument } from 'commander';
import type { Command } from 'commander';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `hearth completion …`: scripts that complete commands, options and names in shells. */
export function addCompletionCommands(program: Command, run: Run): void {
  const printScript: Action<object, [(typeof shells)[number]]> = async (cli, _options, shell) => {
    const [{ commandSpecs, globalOptions }, { bashScript }, { zshScript }, { fishScript }] = await Promise.all([
      import('../completion/command-specs.ts'),
      import('../completion/bash.ts'),
      import('../completion/zsh.ts'),
      import('../completion/fish.ts'),
    ]);
    const tree = { shapes: commandSpecs(program), everywhere: globalOptions(program) };
    cli.output.print({ bash: bashScript, zsh: zshScript, fish: fishScript }[shell](tree));
  };
  withExamples(
    program
      .command('completion')
      .description('print a shell script that completes commands, options and names')
      .addArgument(new Argument('<shell>', 'shell to complete in').choices(shells))
      .action(run(printScript)),
    'source <(hearth completion bash)',
    'hearth completion bash > /etc/bash_completion.d/hearth',
    'hearth completion zsh > "${fpath[1]}/_hearth"',
    'hearth completion fish > ~/.config/fish/completions/hearth.fish',
  );
  program
    .command('complete-names', { hidden: true })
    .description('list names with a prefix, for the completion scripts')
    .argument('<kind>')
    .argument('[beginning]')
    .action(run(printNames));
}

/** Prints no errors: a shell would show them as completions. */
const printNames: Action<object, [string, string | undefined]> = async (cli, _options, kind, beginning = '') => {
  const [{ nameKinds }, { databaseFileBelow, completeNames }, { dropPrivilegesToOwnerOf }] = await Promise.all([
    import('../completion/command-specs.ts'),
    import('../completion/complete-names.ts'),
    import('../data-dir.ts'),
  ]);
  const known = nameKinds.find((each) => each === kind);
  const loaded = await cli.loadConfig().catch(() => null);
  if (known === undefined || loaded === null) return;
  const { dataDir, backup } = loaded.config;
  // Opening the database creates missing -wal and -shm files of SQLite; they must not belong to root.
  dropPrivilegesToOwnerOf(dataDir, cli.process);
  const names = completeNames(known, beginning, { databaseFile: databaseFileBelow(dataDir), backups: backup.folder });
  cli.output.print(names.map((name) => `${name}\n`).join(''), names);
};
