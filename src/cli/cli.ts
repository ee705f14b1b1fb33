import { readFileSync } from 'node:fs';
import type { openModules, Modules } from '../app/index.ts';
import type { ConfigSources, LoadedConfig } from '../config/index.ts';
import { invalid, silentLogger } from '../kernel/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import type { CliProcess, CliSignal } from './cli-process.ts';
import { exitCodeOf } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { createOutput } from './terminal/output.ts';
import type { Output } from './terminal/output.ts';
import { prompt } from './terminal/prompt.ts';
import { withHint } from './report-error.ts';

/** Options that every command takes. */
export interface GlobalFlags {
  config?: string;
  dataDir?: string;
  json: boolean;
  plain: boolean;
  color: 'auto' | 'always' | 'never';
  quiet: boolean;
  verbose: boolean;
  debug: boolean;
  yes: boolean;
  /** False with --no-input. */
  input: boolean;
}

export type OnSignal = (handler: (signal: CliSignal) => void) => void;

/** Dependencies of a command's action. Heavy modules behind it are loaded on first use. */
export interface Cli {
  readonly process: CliProcess;
  readonly flags: GlobalFlags;
  readonly output: Output;
  readonly clock: Clock;
  /** Whether input comes from a terminal, so that the user can be prompted. */
  readonly mayAsk: boolean;
  /** The exit code after the action; 0 unless set. */
  exitCode: number;
  /** The exit code for an error. */
  exitCodeOf: (error: unknown) => ExitCode;
  /** Handles SIGINT and SIGTERM, which otherwise end the program at once. */
  readonly onSignal: OnSignal;
  /** The settings, overridden by the given flags: option key → text. */
  loadConfig(flags?: Readonly<Record<string, string>>): Promise<LoadedConfig>;
  /** The modules on the data folder, usable while a server is running. Closed after the action. */
  openModules(): Promise<Modules>;
  /** The log of a short command: on stderr with --verbose or --debug, otherwise discarded. */
  logger(): Promise<Logger>;
  /** Asks for confirmation. Without a terminal --yes is required. Throws `confirmation_needed`, `not_confirmed`. */
  confirm(question: string): Promise<void>;
  /**
   * Asks for confirmation of irreversible actions: the user must type the name or pass it with --confirm; --yes is not
   * enough. Throws `confirmation_needed`, `not_confirmed`.
   * @param given the value of --confirm
   */
  confirmName(question: string, name: string, given: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** Dependencies of the command line that tests replace. */
export interface CliTools {
  readonly clock: Clock;
  /** Replaces the modules of the data folder. */
  readonly openModules?: typeof openModules | undefined;
}

export function createCli(process: CliProcess, flags: GlobalFlags, tools: CliTools, onSignal: OnSignal): Cli {
  const { clock } = tools;
  let modules: Promise<Modules> | null = null;
  const cli: Cli = {
    process,
    flags,
    clock,
    output: createOutput({ stdout: process.stdout, stderr: process.stderr, clock }, flags),
    // Evaluated on demand: Node loads many modules for standard input, even if it is not read.
    get mayAsk() {
      return flags.input && process.stdin.isTTY === true && process.stderr.isTTY === true;
    },
    exitCode: 0,
    exitCodeOf,
    onSignal,

    async loadConfig(overrides = {}) {
      const { loadConfig } = await import('../config/index.ts');
      return loadConfig(configSources(process, flags, overrides));
    },
    async openModules() {
      return (modules ??= open());
    },
    async logger() {
      if (!flags.verbose && !flags.debug) return silentLogger;
      const { createLogger } = await import('./serving/logger.ts');
      return createLogger(process.stderr, { level: flags.debug ? 'debug' : 'info', format: 'auto' });
    },
    async confirm(question) {
      if (flags.yes) return;
      if (!cli.mayAsk) {
        throw withHint(
          invalid('confirmation_needed', 'This action requires confirmation, but there is no terminal to prompt on.'),
          'add --yes',
        );
      }
      const answer = await prompt(`${question} [y/N] `, process.stdin, process.stderr);
      if (!/^y(es)?$/i.test(answer.trim())) throw invalid('not_confirmed', 'Not confirmed. Nothing was changed.');
    },
    async confirmName(question, name, given) {
      if (given === undefined && !cli.mayAsk) {
        throw withHint(
          invalid('confirmation_needed', 'This action cannot be undone and requires confirmation.'),
          `add --confirm ${name}`,
        );
      }
      const answer = given ?? (await prompt(`${question} Type ${name} to continue: `, process.stdin, process.stderr));
      if (answer.trim() !== name)
        throw invalid('not_confirmed', `Not confirmed: you did not type ${name}. Nothing was changed.`);
    },
    async close() {
      await (await modules?.catch(() => null))?.close();
    },
  };
  return cli;

  async function open(): Promise<Modules> {
    const { config, origins } = await cli.loadConfig();
    const { openModules, signOfInstance } = await import('../app/index.ts');
    const { dropPrivilegesToOwnerOf, requireDataDir } = await import('./data-dir.ts');
    const user = dropPrivilegesToOwnerOf(config.dataDir, process);
    if (user !== null && flags.verbose) cli.output.message(`Running as user ${user}, the owner of ${config.dataDir}.`);
    const origin = origins.get('data_dir');
    requireDataDir(
      config.dataDir,
      signOfInstance(config),
      origin?.name ?? (origin?.kind === 'flag' ? '--data-dir' : 'the default'),
    );
    return (tools.openModules ?? openModules)(config, { logger: await cli.logger(), clock });
  }
}

/** The sources of settings in this process. */
export function configSources(
  process: CliProcess,
  flags: GlobalFlags,
  overrides: Readonly<Record<string, string>> = {},
): ConfigSources {
  return {
    argvOverrides: { ...overrides, ...(flags.dataDir === undefined ? {} : { data_dir: flags.dataDir }) },
    configPath: flags.config,
    env: process.env,
    cwd: process.cwd(),
    readFile: (path: string): string => readFileSync(path, 'utf8'),
  };
}
