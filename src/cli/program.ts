import { Command, Option } from 'commander';
import type { Run } from './action.ts';
import type { Cli, GlobalFlags } from './cli.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addCareCommands } from './commands/care.ts';
import { addCompletionCommands } from './commands/completion.ts';
import { addConfigCommands } from './commands/config.ts';
import { addCronCommands } from './commands/cron.ts';
import { addDeliveryCommands } from './commands/delivery.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addFederationCommands } from './commands/federation.ts';
import { addHealthCommand } from './commands/health.ts';
import { addHelpCommand } from './commands/help.ts';
import { addInitCommand } from './commands/init.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLogCommands } from './commands/log.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOrgCommands } from './commands/org.ts';
import { addReloadCommand } from './commands/reload.ts';
import { addRepoCommands } from './commands/repo.ts';
import { addRollbackCommand } from './commands/rollback.ts';
import { addRunCommands } from './commands/run.ts';
import { addRunnerCommands } from './commands/runner.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSetupUrlCommand } from './commands/setup-url.ts';
import { addSshCommands } from './commands/ssh.ts';
import { addTokenCommands } from './commands/token.ts';
import { addUserCommands } from './commands/user.ts';
import { addVersionCommand } from './commands/version.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { formatHelp, withExamples } from './help.ts';

/** Gives every command the house's manners: what is written where, and who ends the program. */
export interface ProgramEnds {
  /** Help and the version, which were asked for. */
  print(text: string): void;
  /** Builds the `Cli` for one action, runs it and closes it. */
  act(flags: GlobalFlags, action: (cli: Cli) => Promise<void>): Promise<void>;
}

/** The tree of commands. Definitions only: an action imports what it needs when it runs. */
export function createProgram(version: string, ends: ProgramEnds): Command {
  const program = new Command('hearth');
  program
    .description('Hearth, a self-hosted git forge')
    .version(version, '-V, --version', 'print the version and end')
    .option('--config <path>', 'settings file (else $SERVICE_CONFIG, ./hearth.toml, /etc/hearth/hearth.toml)')
    .option('--data-dir <path>', 'data folder')
    .option('--json', 'print JSON', false)
    .option('--plain', 'print tab-separated values without headers', false)
    .addOption(new Option('--color <when>', 'colour the output').choices(['auto', 'always', 'never']).default('auto'))
    .option('-q, --quiet', 'print results only', false)
    .option('-v, --verbose', 'tell what is done, on stderr', false)
    .option('--debug', 'tell everything, with stack traces', false)
    .option('-y, --yes', 'confirm what would be asked', false)
    .option('--no-input', 'never ask')
    .helpOption('-h, --help', 'show help for any command')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ formatHelp, sortSubcommands: false })
    .configureOutput({
      writeOut: ends.print,
      // Only help comes this way (a group without a command); that is no error here.
      writeErr: ends.print,
      // Errors are thrown as well, and reported at the exit door.
      outputError: () => {},
    });
  withExamples(program,
    'hearth serve                              start the server',
    'hearth user add alice --admin             make an administrator',
    'hearth user list                          see who there is',
    'hearth help user add                      help for one command',
  );

  const run: Run = (action) => async (...given) => {
    const command = given.pop() as Command;
    const options = given.pop();
    const flags = command.optsWithGlobals<GlobalFlags>();
    await ends.act(flags, (cli) => action(cli, options as never, ...(given as never)));
  };
  addServeCommand(program, run);
  addSetupUrlCommand(program, run);
  addUserCommands(program, run);
  addKeyCommands(program, run);
  addTokenCommands(program, run);
  addOrgCommands(program, run);
  addRepoCommands(program, run);
  addRunnerCommands(program, run);
  addRunCommands(program, run);
  addFederationCommands(program, run);
  addDeliveryCommands(program, run);
  addWebhookCommands(program, run);
  addInitCommand(program, run);
  addCareCommands(program, run);
  addBackupCommands(program, run);
  addRollbackCommand(program, run);
  addDoctorCommand(program, run);
  addLogCommands(program, run);
  addCronCommands(program, run);
  addReloadCommand(program, run);
  addSshCommands(program, run);
  addConfigCommands(program, run);
  addMigrateCommand(program, run);
  addHealthCommand(program, run);
  addVersionCommand(program, run);
  addCompletionCommands(program, run);
  addHelpCommand(program, run);
  return program;
}
