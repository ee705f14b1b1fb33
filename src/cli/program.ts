import { Command, Option } from 'commander';
import type { Run } from './action.ts';
import type { Cli, GlobalFlags } from './cli.ts';
import { groupsFor } from './command-groups.ts';
import { formatHelp, withExamples } from './help.ts';
import { recordActedFor } from './record-acted-for.ts';

/** Common behaviour of all commands: output streams, and the end of the program. */
interface ProgramHandlers {
  /** For help and the version, if requested. */
  print(text: string): void;
  /** Builds the `Cli` for one action, runs it and closes it. */
  act(flags: GlobalFlags, action: (cli: Cli) => Promise<void>): Promise<void>;
}

/**
 * The tree of commands, or the part that the words need. Contains only definitions: an action imports its modules when
 * it runs.
 */
export async function createProgram(
  version: string,
  ends: ProgramHandlers,
  words: readonly string[] = [],
): Promise<Command> {
  const program = new Command('hearth');
  program
    .description('Hearth, a self-hosted git forge')
    .version(version, '-V, --version', 'print the version and exit')
    .option('--config <path>', 'settings file (default: $SERVICE_CONFIG, ./hearth.toml, /etc/hearth/hearth.toml)')
    .option('--data-dir <path>', 'data folder')
    .option('--json', 'print JSON', false)
    .option('--plain', 'print tab-separated values without headers', false)
    .addOption(new Option('--color <when>', 'colour the output').choices(['auto', 'always', 'never']).default('auto'))
    .option('-q, --quiet', 'print results only', false)
    .option('-v, --verbose', 'verbose output on stderr', false)
    .option('--debug', 'debug output with stack traces', false)
    .option('-y, --yes', 'answer all prompts with yes', false)
    .option('--no-input', 'never prompt')
    .helpOption('-h, --help', 'show help for any command')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ formatHelp, sortSubcommands: false })
    .configureOutput({
      writeOut: ends.print,
      // Only help is written this way (for a group without a command); it is not an error.
      writeErr: ends.print,
      // Errors are thrown as well, and reported in one place.
      outputError: () => {},
    });
  withExamples(
    program,
    'hearth serve                              start the server',
    'hearth user add alice --admin             make an administrator',
    'hearth user list                          list people',
    'hearth help user add                      help for one command',
  );

  const run: Run =
    (action) =>
    async (...given) => {
      const command = given.pop() as Command;
      const options = given.pop();
      const flags = command.optsWithGlobals<GlobalFlags>();
      await ends.act(flags, async (cli) => {
        await action(cli, options as never, ...(given as never));
        await recordActedFor(cli, command);
      });
    };
  const groups = groupsFor(
    words,
    program.options.flatMap(({ required, long }) => (required && long ? [long] : [])),
  );
  for (const add of await Promise.all(groups.map((group) => group.load()))) add(program, run);
  return program;
}
