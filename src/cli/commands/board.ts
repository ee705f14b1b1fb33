import { Option } from 'commander';
import type { Command } from 'commander';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { BoardOfCards, BoardPlace, BoardPreset, BoardRow, ListedIssue } from '../../issues/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { actorOf, repositoryOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';

/** Repeated here, so that help loads no module of issues. */
const presets: readonly BoardPreset[] = ['basic', 'state', 'none'];

/** `hearth board …`: boards of repositories and organisations. */
export function addBoardCommands(program: Command, run: Run): void {
  const board = addNoun(program, 'board', 'boards of repositories and organisations');
  const command = (name: string, description: string, hasBoard = true): Command => {
    const made = board.command(name).description(description).argument('<place>', 'owner/name, or an organisation');
    if (hasBoard) made.argument('<board>', 'board title or id');
    return made.option('--as <user>', 'act as this user');
  };
  withExamples(
    command('list', 'list boards', false).action(run(listBoards)),
    'hearth board list alice/garden',
    'hearth board list acme',
  );
  withExamples(
    command('show', 'show a board with the first cards in each column').action(run(showBoard)),
    'hearth board show alice/garden Winter',
  );
  withExamples(
    command('add', 'create a board')
      .alias('create')
      .option('--description <text>', 'description')
      .addOption(new Option('--columns <preset>', 'preset for the initial columns').choices(presets).default('basic'))
      .option('--public', 'visible to everyone instead of members of the organisation only')
      .action(run(addBoard)),
    'hearth board add acme Plan --columns state',
  );
  withExamples(
    command('delete', 'delete a board; its issues remain').alias('remove').action(run(deleteBoard)),
    'hearth board delete acme Plan',
  );
  withExamples(
    command('card', 'add an issue or pull request to a board, or move its card')
      .argument('<issue>', "number; on an organisation's board owner/name#number")
      .option('--column <name>', "column (default: chosen by the board's rules)")
      .option('--remove', 'remove the card from the board')
      .action(run(changeCard)),
    'hearth board card alice/garden Winter 7 --column "In progress"',
    'hearth board card acme Plan acme/tools#3 --remove',
  );
}

const columns: Column<BoardRow>[] = [
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'PUBLIC', cell: ({ isPublic, repositoryId }) => (repositoryId !== null ? '' : isPublic ? 'yes' : 'no') },
  { title: 'ID', cell: ({ id }) => id },
];
const toJson = ({ id, title, description, isPublic }: BoardRow): object => ({
  id,
  title,
  description,
  public: isPublic,
});

async function placeOf(modules: Modules, viewer: PersonViewer, text: string): Promise<BoardPlace> {
  if (text.includes('/')) return repositoryOf(modules, viewer, text);
  const organisation = text.replace(/^@/, '');
  if ((await modules.owners.resolve(organisation))?.kind !== 'organisation')
    throw notFound(
      'organisation_not_found',
      `The organisation ${text} does not exist. To specify a repository, use owner/name.`,
    );
  return { organisation };
}

/** By its title, ignoring case, or by its id. Throws `board_not_found`. */
async function findBoard(modules: Modules, options: AsOption, place: string, text: string) {
  const viewer = await actorOf(modules, options);
  const at = await placeOf(modules, viewer, place);
  const { boards } = await modules.issues.boards.list(viewer, at);
  const found = boards.find(({ id, titleFolded }) => id === text || titleFolded === text.toLowerCase());
  if (found === undefined) throw notFound('board_not_found', `No board named ${JSON.stringify(text)} exists.`);
  return { viewer, at, id: found.id, board: await modules.issues.boards.read(viewer, at, found.id) };
}

const listBoards: Action<AsOption, [string]> = async (cli, options, place) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const { boards } = await modules.issues.boards.list(viewer, await placeOf(modules, viewer, place));
  cli.output.list(boards, columns, ['board', 'boards'], toJson);
};

interface CardLine {
  column: string;
  issue: ListedIssue | null;
}

const cardColumns: Column<CardLine>[] = [
  { title: 'COLUMN', cell: ({ column }) => column },
  { title: 'NUMBER', cell: ({ issue }) => issue?.number ?? '', align: 'right' },
  { title: 'TITLE', cell: ({ issue }) => issue?.title ?? '' },
  { title: 'STATE', cell: ({ issue }) => issue?.state.toLowerCase() ?? '' },
];
const linesOf = ({ columns: all }: BoardOfCards): CardLine[] =>
  all.flatMap(({ name, cards }): CardLine[] =>
    cards.length === 0 ? [{ column: name, issue: null }] : cards.map((issue) => ({ column: name, issue })),
  );

const showBoard: Action<AsOption, [string, string]> = async (cli, options, place, text) => {
  const modules = await cli.openModules();
  const { board } = await findBoard(modules, options, place, text);
  cli.output.list(linesOf(board), cardColumns, ['card', 'cards'], ({ column, issue }) => ({
    column,
    number: issue?.number ?? null,
    title: issue?.title ?? null,
    state: issue?.state.toLowerCase() ?? null,
  }));
};

interface AddOptions extends AsOption {
  description?: string;
  columns: BoardPreset;
  public?: boolean;
}

const addBoard: Action<AddOptions, [string, string]> = async (cli, options, place, title) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const fields = { title, description: options.description ?? '', isPublic: options.public === true };
  const added = await modules.issues.boards.add(viewer, await placeOf(modules, viewer, place), fields, options.columns);
  cli.output.result(`Created the board ${added.title}.`, toJson(added));
};

const deleteBoard: Action<AsOption, [string, string]> = async (cli, options, place, text) => {
  const modules = await cli.openModules();
  const { viewer, at, id, board } = await findBoard(modules, options, place, text);
  await modules.issues.boards.delete(viewer, at, id);
  cli.output.result(`Deleted the board ${board.title}.`, toJson(board));
};

interface CardOptions extends AsOption {
  column?: string;
  remove?: boolean;
}

const changeCard: Action<CardOptions, [string, string, string]> = async (cli, options, place, text, issue) => {
  const modules = await cli.openModules();
  const { viewer, at, id, board } = await findBoard(modules, options, place, text);
  const [, owner, name, number] = /^(?:([^/\s#]+)\/([^/\s#]+))?#?(\d{1,15})$/.exec(issue) ?? [];
  const home = 'organisation' in at ? null : at;
  if (number === undefined || (owner === undefined && home === null))
    throw invalid('usage', `Specify the issue as ${home === null ? 'owner/name#number' : 'its number'}.`);
  const where = { owner: owner ?? home!.owner, name: name ?? home!.name, number: Number(number) };
  if (options.remove === true) {
    const { id: issueId } = await modules.issues.find(viewer, where);
    await modules.issues.boards.removeCards(viewer, at, { boardId: id, issueIds: [issueId] });
    cli.output.result(`Removed ${where.owner}/${where.name}#${where.number} from ${board.title}.`, { id: issueId });
    return;
  }
  const column = board.columns.find(({ nameFolded }) => nameFolded === options.column?.toLowerCase());
  if (options.column !== undefined && column === undefined)
    throw notFound('board_column_not_found', `The board has no column ${JSON.stringify(options.column)}.`);
  const issueId = await modules.issues.boards.addCard(viewer, at, id, where, column?.id ?? null);
  if (column !== undefined)
    await modules.issues.boards.moveCards(
      viewer,
      at,
      { boardId: id, issueIds: [issueId] },
      { columnId: column.id, to: 'top' },
    );
  cli.output.result(`Added ${where.owner}/${where.name}#${where.number} to ${board.title}.`, { id: issueId });
};
