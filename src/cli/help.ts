import type { Command, Help, Option } from 'commander';
import { exitCodes } from './exit-codes.ts';

const examples = new WeakMap<Command, readonly string[]>();

/** Adds examples to a command; help shows them before the options. */
export function withExamples(command: Command, ...lines: string[]): Command {
  examples.set(command, lines);
  return command;
}

export function examplesOf(command: Command): readonly string[] {
  return examples.get(command) ?? [];
}

/** A noun: a command that only groups others. */
export function addNoun(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}

/** Formats help: description, usage and examples, then the details. */
export function formatHelp(command: Command, helper: Help): string {
  const isRoot = command.parent === null;
  const options = helper.visibleOptions(command).filter((option) => isRoot || option.long !== '--help');
  const parts = [
    [helper.commandDescription(command)],
    [`Usage: ${helper.commandUsage(command)}`],
    section(
      'Examples',
      shownExamples(command).map((line) => [line, '']),
    ),
    ...(isRoot
      ? groups(helper.visibleCommands(command))
      : [['Commands', helper.visibleCommands(command)] as const]
    ).map(([title, commands]) =>
      section(
        title,
        commands.map((child) => [
          isRoot ? child.name() : helper.subcommandTerm(child),
          helper.subcommandDescription(child),
        ]),
        isRoot ? groupWidth : 0,
      ),
    ),
    section(
      'Arguments',
      helper
        .visibleArguments(command)
        .map((argument) => [helper.argumentTerm(argument), helper.argumentDescription(argument)]),
    ),
    section(
      isRoot ? 'Options of every command' : 'Options',
      options.map((option) => [helper.optionTerm(option), describeOption(option, helper)]),
    ),
    isRoot ? [] : ['Options of every command: hearth --help'],
  ];
  return (
    parts
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n') + '\n'
  );
}

/** Omits the default of switches. */
function describeOption(option: Option, helper: Help): string {
  return helper.optionDescription(option).replace(' (default: false)', '');
}

/** Topics of the top-level help, which would otherwise be a list of three dozen lines. */
const topics: readonly (readonly [title: string, names: readonly string[]])[] = [
  [
    'Server',
    [
      'serve',
      'demo',
      'init',
      'setup-url',
      'status',
      'health',
      'reload',
      'config',
      'cron',
      'node',
      'job',
      'mail',
      'log',
      'version',
      'self-update',
    ],
  ],
  ['People', ['user', 'key', 'token', 'application', 'org', 'handle']],
  ['Repositories', ['repo', 'issue', 'trash', 'export', 'import', 'webhook']],
  ['CI', ['run', 'workflow', 'runner', 'ci']],
  ['Other servers', ['federation', 'delivery']],
  [
    'Maintenance',
    ['doctor', 'backup', 'restore', 'recover', 'migrate', 'rollback', 'db', 'reindex', 'stats', 'cleanup'],
  ],
  ['Development', ['routes']],
];
const groupWidth = 12;

/** Commands without a topic come last. */
function groups(commands: readonly Command[]): (readonly [title: string, commands: readonly Command[]])[] {
  const named = new Set(topics.flatMap(([, names]) => names));
  const of = (names: readonly string[]) =>
    names.flatMap((name) => commands.find((command) => command.name() === name) ?? []);
  return [
    ...topics.map(([title, names]) => [title, of(names)] as const),
    ['More', commands.filter((command) => !named.has(command.name()))],
  ];
}

/** The examples of a noun are those of its first commands. */
function shownExamples(command: Command): readonly string[] {
  const own = examplesOf(command);
  return own.length > 0 ? own : command.commands.flatMap((child) => examplesOf(child).slice(0, 1)).slice(0, 4);
}

function section(title: string, entries: [term: string, text: string][], least = 0): string[] {
  if (entries.length === 0) return [];
  const width = Math.max(least, ...entries.map(([term]) => term.length));
  return [`${title}:`, ...entries.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`.trimEnd())];
}

export function exitCodesText(): string {
  return exitCodes.map(([code, meaning]) => `${String(code).padStart(3)}  ${meaning}\n`).join('');
}
