import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { exitCodes } from '../exit-codes.ts';
import { exitCodesText, withExamples } from '../help.ts';
import type { Run } from '../action.ts';
import { withHint } from '../report-error.ts';

/** `hearth help user add`, `hearth help branch-rules`, `hearth help topics`, `hearth help exit-codes`. */
export function addHelpCommand(program: Command, run: Run): void {
  const command = program
    .command('help')
    .description('show help for a command or topic; topics lists the topics, exit-codes the exit codes')
    .argument('[command...]', 'command or topic')
    .option('--man', 'print the reference for all commands as a man page')
    .option('--markdown', 'print the reference for all commands as Markdown')
    .action(run((cli, options: Pages, words: string[]) => printHelp(cli, program, options, words)));
  withExamples(
    command,
    'hearth help user add',
    'hearth help topics',
    'hearth help exit-codes',
    'hearth help --man | man -l -',
    'hearth help --man > /usr/local/share/man/man1/hearth.1',
  );
}

interface Pages {
  man?: true;
  markdown?: true;
}

async function printHelp(
  cli: Cli,
  program: Command,
  { man, markdown }: Pages,
  words: readonly string[],
): Promise<void> {
  if (man || markdown) {
    if (words.length > 0 || (man && markdown))
      throw invalid('usage', 'Use --man or --markdown without other arguments. The reference covers every command.');
    const [{ manPage, markdownPage }, { embedded }] = await Promise.all([
      import('../reference.ts'),
      import('../../embedded/index.ts'),
    ]);
    return cli.output.print((man ? manPage : markdownPage)(program, embedded.version));
  }
  if (words.length === 1 && words[0] === 'exit-codes') {
    return cli.output.print(
      exitCodesText(),
      exitCodes.map(([code, meaning]) => ({ code, meaning })),
    );
  }
  if (words[0] === 'topic' || words[0] === 'topics') return printTopic(cli, words);
  let command = program;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word || child.aliases().includes(word));
    if (next === undefined) {
      if (words.length === 1 && (await topicNames()).includes(word)) return printTopic(cli, ['topic', word]);
      throw await noCommand(command, words, word);
    }
    command = next;
  }
  cli.output.print(command.helpInformation());
}

const topicNames = async (): Promise<string[]> => (await import('../../embedded/index.ts')).embedded.documentNames();

/** The documentation of this version: the list of pages, or one page in Markdown. */
async function printTopic(cli: Cli, [, name, ...rest]: readonly string[]): Promise<void> {
  const { embedded } = await import('../../embedded/index.ts');
  const names = embedded.documentNames();
  if (name === undefined) {
    const topics = names.map((each) => ({ topic: each, title: /^# (.+)/.exec(embedded.document(each))?.[1] ?? each }));
    const width = Math.max(...names.map((each) => each.length));
    return cli.output.print(topics.map(({ topic, title }) => `${topic.padEnd(width)}  ${title}\n`).join(''), topics);
  }
  if (rest.length > 0 || !names.includes(name))
    throw withHint(
      invalid('usage', `The topic "${[name, ...rest].join(' ')}" does not exist.`),
      'to list them: hearth help topics',
    );
  cli.output.print(embedded.document(name), { topic: name, text: embedded.document(name) });
}

/** The error that commander reports for an unknown command. */
async function noCommand(among: Command, words: readonly string[], word: string): Promise<Error> {
  const { nearestName } = await import('../../config/index.ts');
  const names = among
    .createHelp()
    .visibleCommands(among)
    .flatMap((child) => [child.name(), ...child.aliases()]);
  const near = nearestName(word, names);
  return withHint(
    invalid('usage', `The command "hearth ${words.join(' ')}" does not exist.`),
    near === null ? 'to list them: hearth help' : `did you mean ${near}?`,
  );
}
