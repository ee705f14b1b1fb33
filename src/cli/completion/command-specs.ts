import type { Argument, Command, Option } from 'commander';

/** Completions of a position of the command line: some words, a file, or names from the database. */
export type CompletionSource = { words: readonly string[] } | { names: NameKind } | 'file' | 'anything';

export const nameKinds = ['user', 'organisation', 'owner', 'repository', 'place', 'backup'] as const;
export type NameKind = (typeof nameKinds)[number];

export interface OptionSpec {
  /** `--user`; every option has a long form. */
  readonly long: string;
  readonly short: string | null;
  readonly about: string;
  /** Null if the option takes no value. */
  readonly value: CompletionSource | null;
}

/** A command in the form needed for completion. */
export interface CommandSpec {
  /** The words after `hearth`: `user list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly aliases: readonly string[]; readonly about: string }[];
  readonly options: readonly OptionSpec[];
  readonly arguments: readonly CompletionSource[];
  /** Whether the last argument may be repeated. */
  readonly isVariadic: boolean;
}

/** Every visible command, the program itself first. */
export function commandSpecs(program: Command): CommandSpec[] {
  const topCommands = visible(program).map((child) => child.name());
  const below = (command: Command, path: readonly string[]): CommandSpec[] => [
    shapeOf(command, path, topCommands),
    ...visible(command).flatMap((child) => below(child, [...path, child.name()])),
  ];
  return below(program, []);
}

/** The options of every command. */
export function globalOptions(program: Command): OptionSpec[] {
  const help = { long: '--help', short: '-h', about: 'show help', value: null };
  const options = program.options.filter((option) => !option.hidden && option.long !== '--version');
  return [...options.map((option) => optionShape(option, [])), help];
}

function visible(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function shapeOf(command: Command, path: readonly string[], topCommands: readonly string[]): CommandSpec {
  const args = command.registeredArguments;
  return {
    path: path.join(' '),
    commands: visible(command).map((child) => ({
      name: child.name(),
      aliases: child.aliases(),
      about: child.description(),
    })),
    options:
      path.length === 0
        ? []
        : command.options.filter((option) => !option.hidden).map((option) => optionShape(option, path)),
    arguments: args.map((argument) => argumentWanted(argument, path, topCommands)),
    isVariadic: args.at(-1)?.variadic ?? false,
  };
}

function optionShape(option: Option, path: readonly string[]): OptionSpec {
  const long = option.long ?? option.short ?? '';
  const valueName = /[<[]([^>\]]+)/.exec(option.flags)?.[1]?.replace(/\.\.\.$/, '');
  const value =
    option.argChoices !== undefined
      ? { words: option.argChoices }
      : valueName === undefined
        ? null
        : (byOption[long.slice(2)] ?? wantedFor(valueName, path));
  return { long, short: option.long === undefined ? null : (option.short ?? null), about: option.description, value };
}

/** @param topCommands the arguments of `help` */
function argumentWanted(argument: Argument, path: readonly string[], topCommands: readonly string[]): CompletionSource {
  if (argument.argChoices !== undefined) return { words: argument.argChoices };
  if (argument.name() === 'command') return { words: topCommands };
  return wantedFor(argument.name(), path);
}

/** Options for which the value's name is not specific enough. */
const byOption: Readonly<Record<string, CompletionSource>> = {
  user: { names: 'user' },
  owner: { names: 'owner' },
  scope: { names: 'place' },
};

const byName: Readonly<Record<string, CompletionSource>> = {
  'owner/name': { names: 'repository' },
  repository: { names: 'repository' },
  user: { names: 'user' },
  username: { names: 'user' },
  org: { names: 'organisation' },
  owner: { names: 'owner' },
  place: { names: 'place' },
  backup: { names: 'backup' },
  file: 'file',
  path: 'file',
  folder: 'file',
};

/** `<name>` names an item of the preceding noun; names of new items cannot be completed. */
const byNoun: Readonly<Record<string, CompletionSource>> = {
  user: { names: 'user' },
  org: { names: 'organisation' },
  backup: { names: 'backup' },
};

function wantedFor(name: string, path: readonly string[]): CompletionSource {
  if (/^[a-z]+(\|[a-z]+)+$/.test(name)) return { words: name.split('|') };
  if (name === 'name' && path.at(-1) !== 'add') return byNoun[path[0] ?? ''] ?? 'anything';
  return byName[name] ?? 'anything';
}
