import type { Command, Help, Option } from 'commander';
import { exitCodes } from './exit-codes.ts';

const examples = new WeakMap<Command, readonly string[]>();

/** Gives a command its examples; help shows them before the options. */
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

/** Help as a newcomer reads it: what it does, how it looks, then the details. */
export function formatHelp(command: Command, helper: Help): string {
  const isRoot = command.parent === null;
  const options = helper.visibleOptions(command).filter((option) => isRoot || option.long !== '--help');
  const parts = [
    [helper.commandDescription(command)],
    [`Usage: ${helper.commandUsage(command)}`],
    section('Examples', examplesOf(command).map((line) => [line, ''])),
    section('Commands', helper.visibleCommands(command).map((child) => [helper.subcommandTerm(child), helper.subcommandDescription(child)])),
    section('Arguments', helper.visibleArguments(command).map((argument) => [helper.argumentTerm(argument), helper.argumentDescription(argument)])),
    section(isRoot ? 'Options of every command' : 'Options', options.map((option) => [helper.optionTerm(option), describeOption(option, helper)])),
    isRoot ? [] : ['Options of every command: hearth --help'],
  ];
  return parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n')).join('\n\n') + '\n';
}

/** That a switch is off until it is given needs no words. */
function describeOption(option: Option, helper: Help): string {
  return helper.optionDescription(option).replace(' (default: false)', '');
}

function section(title: string, entries: [term: string, text: string][]): string[] {
  if (entries.length === 0) return [];
  const width = Math.max(...entries.map(([term]) => term.length));
  return [`${title}:`, ...entries.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`.trimEnd())];
}

export function exitCodesText(): string {
  return exitCodes.map(([code, meaning]) => `${String(code).padStart(3)}  ${meaning}\n`).join('');
}
