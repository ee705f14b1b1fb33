import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { exitCodes } from '../exit-codes.ts';
import { exitCodesText, withExamples } from '../help.ts';
import type { Run } from '../action.ts';

/** `hearth help user add`, `hearth help exit-codes`. */
export function addHelpCommand(program: Command, run: Run): void {
  const command = program.command('help').description('help for a command; exit-codes for what each code means')
    .argument('[command...]', 'words of the command')
    .action(run((cli, _options: object, words: string[]) => printHelp(cli, program, words)));
  withExamples(command, 'hearth help user add', 'hearth help exit-codes');
}

async function printHelp(cli: Cli, program: Command, words: readonly string[]): Promise<void> {
  if (words.length === 1 && words[0] === 'exit-codes') {
    return cli.output.print(exitCodesText(), exitCodes.map(([code, meaning]) => ({ code, meaning })));
  }
  let command = program;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word || child.aliases().includes(word));
    if (next === undefined) throw invalid('usage', `There is no command "hearth ${words.join(' ')}".`);
    command = next;
  }
  cli.output.print(command.helpInformation());
}
