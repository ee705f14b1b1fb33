import type { Command } from 'commander';
import type { Block } from '../../federation/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import { readAll } from '../terminal/read-secret.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth federation block …`: blocked servers and actors. */
export function addBlockCommands(federation: Command, run: Run): void {
  const block = addNoun(federation, 'block', 'blocked servers and actors');
  withExamples(
    block.command('list').description('list blocked servers and actors').action(run(listBlocks)),
    'hearth federation block list',
  );
  withExamples(
    block
      .command('add')
      .description('block an actor, or a server and its subdomains, and end their follows')
      .argument('<value>', 'host name or actor URL')
      .option('--reason <text>', 'reason, shown to administrators')
      .action(run(addBlock)),
    'hearth federation block add spam.example.org --reason "bulk follows"',
  );
  withExamples(
    block
      .command('remove')
      .alias('delete')
      .description('remove a block')
      .argument('<value>', 'server or actor, as shown in the list')
      .action(run(removeBlock)),
    'hearth federation block remove spam.example.org',
  );
  withExamples(
    block
      .command('import')
      .description('add blocks from standard input: one server or actor per line, or a CSV export from another server')
      .action(run(importBlocks)),
    'hearth federation block import < blocked-servers.csv',
  );
  withExamples(
    block
      .command('export')
      .description('print the list as CSV, for import on other servers')
      .option('--actors', 'list actors instead of servers')
      .action(run(exportBlocks)),
    'hearth federation block export > blocked-servers.csv',
  );
}

const perPage = 1_000;
const maxBytes = 16 * 1024 * 1024;
const tooLarge = () => invalid('block_list_too_long', 'The list is larger than 16 MiB.');

const columns: Column<Block>[] = [
  { title: 'KIND', cell: ({ kind }) => kind },
  { title: 'BLOCKED', cell: ({ value }) => value, whole: true },
  { title: 'SINCE', cell: ({ createdAt }) => isoOrNull(createdAt) ?? '' },
  { title: 'REASON', cell: ({ reason }) => reason },
];

const listBlocks: Action<object, []> = async (cli) => {
  const { federation } = await cli.openModules();
  const blocks: Block[] = [];
  for (let after: string | null = null; ; ) {
    const some: Block[] = await federation.listBlocks({ limit: perPage, after });
    blocks.push(...some);
    const last = some.at(-1);
    if (some.length < perPage || last === undefined) break;
    after = `${last.kind} ${last.value}`;
  }
  cli.output.list(blocks, columns, ['block', 'blocks'], (block) => ({
    ...block,
    createdAt: isoOrNull(block.createdAt),
  }));
};

const addBlock: Action<{ reason?: string }, [string]> = async (cli, { reason = '' }, value) => {
  const { federation } = await cli.openModules();
  const block = await federation.addBlock(value, reason);
  cli.output.result(`${block.value} is blocked.`, { ...block });
};

const removeBlock: Action<object, [string]> = async (cli, _options, value) => {
  const { federation } = await cli.openModules();
  await federation.removeBlock(value);
  cli.output.result(`${value} is no longer blocked.`, { value });
};

const importBlocks: Action<object, []> = async (cli) => {
  const text = await readAll(cli.process.stdin, tooLarge, maxBytes);
  const { federation } = await cli.openModules();
  const { added, blocks, skipped } = await federation.importBlocks(text);
  const left =
    skipped.length === 0 ? '' : ` Invalid lines skipped: ${skipped.length}, the first is line ${skipped[0]!.line}.`;
  cli.output.result(`Blocks added: ${added}, already present: ${blocks.length - added}.${left}`, {
    added,
    known: blocks.length - added,
    skipped,
  });
};

const exportBlocks: Action<{ actors?: boolean }, []> = async (cli, { actors = false }) => {
  const { federation } = await cli.openModules();
  const csv = await federation.exportBlocks(actors ? 'actor' : 'host');
  cli.output.print(csv.replace(/\n$/, ''), { csv });
};
