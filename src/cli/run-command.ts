import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { embedded } from '../embedded/index.ts';
import { invalid } from '../kernel/index.ts';
import { createCli } from './cli.ts';
import type { CliTools, GlobalFlags, OnSignal } from './cli.ts';
import type { CliProcess } from './cli-process.ts';
import { exitCodeOf } from './exit-codes.ts';
import { createOutput } from './terminal/output.ts';
import { createProgram } from './program.ts';
import { reportError, withHint } from './report-error.ts';

/** Runs one command and reports its errors. Returns the exit code. */
export async function runCommand(
  process: CliProcess,
  words: readonly string[],
  { onSignal, ...tools }: CliTools & { onSignal: OnSignal },
): Promise<number> {
  let flags = guessFlags(words);
  let codeOf = exitCodeOf;
  let code = 0;
  const program = await createProgram(
    embedded.version,
    {
      print: (text) => void process.stdout.write(text),
      async act(given, action) {
        flags = given;
        const cli = createCli(process, given, tools, onSignal);
        try {
          await action(cli);
          code = cli.exitCode;
        } finally {
          codeOf = cli.exitCodeOf;
          await cli.close();
        }
      },
    },
    words,
  );
  try {
    await program.parseAsync([...words], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && isHelp(error)) return 0;
    const shown = error instanceof CommanderError ? usageError(error, program, words) : error;
    const output = createOutput({ stdout: process.stdout, stderr: process.stderr, clock: tools.clock }, flags);
    reportError(shown, output, process.stderr, flags);
    return codeOf(shown);
  }
}

/** Invalid arguments are found before the flags are parsed. */
function guessFlags(words: readonly string[]): Pick<GlobalFlags, 'json' | 'plain' | 'quiet' | 'color' | 'debug'> {
  const has = (flag: string): boolean => words.includes(flag);
  const color = has('--color=never') ? 'never' : has('--color=always') ? 'always' : 'auto';
  return {
    json: has('--json'),
    plain: has('--plain'),
    quiet: has('--quiet') || has('-q'),
    color,
    debug: has('--debug'),
  };
}

function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help' || code === 'commander.helpDisplayed' || code === 'commander.version';
}

/**
 * Turns commander's "error: unknown option '--x'
 * (Did you mean --y?)" into an error line and a hint.
 */
function usageError({ message }: CommanderError, program: Command, words: readonly string[]): Error {
  const [, what = message, suggestion] = /^(?:error: )?([^\n]*)(?:\n\((.*)\))?$/.exec(message) ?? [];
  const hint = suggestion === undefined ? `see ${commandPath(program, words)} --help` : `d${suggestion.slice(1)}`;
  return withHint(invalid('usage', what), hint);
}

/** The longest prefix of the words that is a command: `hearth user add`. */
function commandPath(program: Command, words: readonly string[]): string {
  let command = program;
  const path = [program.name()];
  for (const word of words.filter((word) => !word.startsWith('-'))) {
    const next = command.commands.find((child) => child.name() === word || child.aliases().includes(word));
    if (next === undefined) break;
    path.push(next.name());
    command = next;
  }
  return path.join(' ');
}
