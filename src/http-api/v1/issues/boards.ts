import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { boardPresets, cardNotFound, issueLimits, noFilter, parseIssueQuery } from '../../../issues/index.ts';
import type {
  Board,
  BoardFilter,
  BoardOfCards,
  BoardPlace,
  BoardRow,
  CardTarget,
  ListedIssue,
} from '../../../issues/index.ts';
import { invalid } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { issue } from '../../../gitea-shapes/schemas.ts';
import { operation } from '../../operation.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { repositoryAt, showIssues } from '../shapes/issues-parts.ts';

const rule = z.enum(['open', 'closed', 'label']).nullable();
const columnFields = {
  name: z.string().max(200),
  limit: z.int().min(1).max(issueLimits.cardsPerBoard).nullish().describe('Suggested maximum number of cards'),
  rule: rule
    .optional()
    .describe(
      'Adds matching cards automatically and updates cards moved into the column; null for a column that is filled manually',
    ),
  label: z.string().max(100).optional().describe('Name of the label if the rule is label'),
};
const column = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    limit: z.int().nullable(),
    rule,
    label: z.string(),
  })
  .meta({ id: 'BoardColumn' });
const countedColumn = column
  .extend({ cards: z.int().describe('Number of cards visible to the caller') })
  .meta({ id: 'CountedBoardColumn' });
const boardFields = {
  id: z.uuid(),
  title: z.string(),
  description: z.string(),
  public: z.boolean().describe('For an organisation’s board: visible to everyone, not only to members'),
};
const listedBoard = z.strictObject(boardFields).meta({ id: 'ListedBoard' });
const board = z.strictObject({ ...boardFields, columns: z.array(column) }).meta({ id: 'Board' });
const boardWithCounts = z
  .strictObject({ ...boardFields, columns: z.array(countedColumn) })
  .meta({ id: 'CountedBoard' });
const card = z
  .strictObject({ id: z.uuid().describe('ID of the card, the same on every board'), issue })
  .meta({ id: 'BoardCard' });

const showRow = ({ id, title, description, isPublic }: BoardRow) => ({ id, title, description, public: isPublic });
const showColumn = ({ id, name, cardLimit, rule: given, label }: Board['columns'][number]) => ({
  id,
  name,
  limit: cardLimit,
  rule: given,
  label,
});
const showBoard = (shown: Board) => ({ ...showRow(shown), columns: shown.columns.map(showColumn) });
const showCounted = (shown: BoardOfCards) => ({
  ...showRow(shown),
  columns: shown.columns.map((each) => ({ ...showColumn(each), cards: each.count })),
});

async function showCards(deps: WebDeps, cards: readonly ListedIssue[], origin: string) {
  const located = await deps.repositories.locate([...new Set(cards.map(({ repositoryId }) => repositoryId))]);
  const present = cards.filter(({ repositoryId }) => located.has(repositoryId));
  const issues = await showIssues(deps, present, (at) => {
    const { owner, repository } = located.get(present[at]!.repositoryId)!;
    return { origin, owner: owner.handle, repository };
  });
  return present.map(({ id }, at) => ({ id, issue: issues[at]! }));
}

function filterIn(q: string): BoardFilter | null {
  if (q.trim() === '') return null;
  const { filter } = parseIssueQuery(q);
  return { filter: { ...noFilter, ...filter }, kind: null, state: null };
}

function targetOf({
  column: id,
  to,
  above,
}: Partial<Record<'column' | 'to' | 'above', string | undefined>>): CardTarget {
  if (to === 'up' || to === 'down') return { to };
  if (id === undefined) throw invalid('board_column_missing', 'Name the column.', { field: 'column' });
  return above === undefined ? { columnId: id, to: to === 'top' ? 'top' : 'bottom' } : { columnId: id, above };
}

const common = { tag: 'Boards', cost: 'rows' } as const;

/** The operations of the boards of repositories, or of organisations. */
function boardOperations<Base extends '/repos/{owner}/{name}/boards' | '/orgs/{org}/boards'>(
  base: Base,
  called: '' | 'Organisation',
  what: string,
) {
  const isRepository = called === '';
  // The use-case checks the caller's access to an organisation's board.
  const reading = {
    ...common,
    access: isRepository ? 'repository:read' : 'anyone',
    ...(!isRepository && { refuses: [404] as const }),
  } as const;
  const writing = {
    ...common,
    access: isRepository ? 'repository:read' : 'token:write',
    scope: 'write',
    refuses: isRepository ? ([409, 422] as const) : ([404, 409, 422] as const),
  } as const;
  const id = (verb: string, noun: string): string => `${verb}${called}${noun}`;
  const placeOf = (call: { params: object; found?: Found | null }): BoardPlace =>
    call.found ? repositoryAt(call.found) : { organisation: (call.params as { org: string }).org };
  const one = `${base}/{board}` as '/repos/{owner}/{name}/boards/{board}';
  const oneColumn = `${one}/columns/{column}` as const;
  const oneCard = `${one}/cards/{card}` as const;
  interface Known {
    viewer: Viewer;
    deps: WebDeps;
    params: { board: string };
    found?: Found | null;
  }
  const read = ({ viewer, deps, params, ...call }: Known) =>
    deps.issues.boards.read(viewer, placeOf({ params, ...call }), params.board);

  return [
    operation({
      ...reading,
      id: id('list', 'Boards'),
      method: 'GET',
      path: base,
      summary: `List the boards of ${what} by title`,
      status: 200,
      response: z.array(listedBoard),
      async run(call) {
        return json((await call.deps.issues.boards.list(call.viewer, placeOf(call as never))).boards.map(showRow));
      },
    }),
    operation({
      ...writing,
      id: id('add', 'Board'),
      method: 'POST',
      path: base,
      summary: `Add a board to ${what}`,
      status: 201,
      body: z.object({
        title: z.string().max(500),
        description: z.string().max(5_000).optional(),
        public: z.boolean().optional(),
        columns: z.enum(boardPresets).optional().describe('Initial columns'),
      }),
      response: board,
      async run(call) {
        const { title, description, public: isPublic, columns = 'basic' } = call.body;
        const fields = { title, description: description ?? '', isPublic: isPublic ?? false };
        const added = await call.deps.issues.boards.add(call.viewer, placeOf(call as never), fields, columns);
        return created(showBoard(added));
      },
    }),
    operation({
      ...reading,
      id: id('get', 'Board'),
      method: 'GET',
      path: one,
      summary: 'Get a board with its columns',
      status: 200,
      response: boardWithCounts,
      run: async (call) => json(showCounted(await read(call as never))),
    }),
    operation({
      ...writing,
      id: id('edit', 'Board'),
      method: 'PATCH',
      path: one,
      summary: 'Edit a board',
      description: 'Omitted fields remain unchanged.',
      status: 200,
      body: z.object({
        title: z.string().max(500).optional(),
        description: z.string().max(5_000).optional(),
        public: z.boolean().optional(),
      }),
      response: boardWithCounts,
      async run(call) {
        const { title, description, public: isPublic } = call.body;
        await call.deps.issues.boards.edit(call.viewer, placeOf(call as never), call.params.board, {
          ...(title !== undefined && { title }),
          ...(description !== undefined && { description }),
          ...(isPublic !== undefined && { isPublic }),
        });
        return json(showCounted(await read(call as never)));
      },
    }),
    operation({
      ...writing,
      id: id('delete', 'Board'),
      method: 'DELETE',
      path: one,
      summary: 'Delete a board, but not its issues',
      status: 204,
      async run(call) {
        await call.deps.issues.boards.delete(call.viewer, placeOf(call as never), call.params.board);
        return noContent();
      },
    }),
    operation({
      ...writing,
      id: id('add', 'BoardColumn'),
      method: 'POST',
      path: `${one}/columns`,
      summary: 'Add a column to the right end of a board',
      status: 201,
      body: z.object(columnFields),
      response: column,
      async run(call) {
        const place = placeOf(call as never);
        return created(
          showColumn(await call.deps.issues.boards.addColumn(call.viewer, place, call.params.board, call.body)),
        );
      },
    }),
    operation({
      ...writing,
      id: id('edit', 'BoardColumn'),
      method: 'PATCH',
      path: oneColumn,
      summary: 'Edit or move a board column',
      description: 'Omitted fields remain unchanged.',
      status: 204,
      body: z.object({
        ...columnFields,
        name: columnFields.name.optional(),
        move: z.enum(['left', 'right']).optional().describe('Moves it by one column'),
      }),
      async run(call) {
        const { move, ...fields } = call.body;
        const at = { boardId: call.params.board, columnId: call.params.column };
        await call.deps.issues.boards.editColumn(call.viewer, placeOf(call as never), at, fields);
        if (move !== undefined) await call.deps.issues.boards.moveColumn(call.viewer, placeOf(call as never), at, move);
        return noContent();
      },
    }),
    operation({
      ...writing,
      id: id('delete', 'BoardColumn'),
      method: 'DELETE',
      path: oneColumn,
      summary: 'Delete a column and remove its cards from the board',
      status: 204,
      async run(call) {
        const at = { boardId: call.params.board, columnId: call.params.column };
        await call.deps.issues.boards.deleteColumn(call.viewer, placeOf(call as never), at);
        return noContent();
      },
    }),
    operation({
      ...reading,
      id: id('list', 'BoardCards'),
      method: 'GET',
      path: `${oneColumn}/cards`,
      summary: 'List a column’s cards from top to bottom',
      description: 'Omits cards of issues that the caller cannot read.',
      status: 200,
      isPaged: true,
      query: z.object({
        q: z.string().max(1_000).default('').describe('Filter, such as label:bug assignee:alice'),
        limit: z.int().min(1).max(100).default(30),
        after: z.string().max(100).optional().describe('Cursor from the previous page’s Link header'),
      }),
      response: z.array(card),
      async run(call) {
        const { q, limit, after = null } = call.query;
        const { board: boardId, column: columnId } = call.params;
        const read = await call.deps.issues.boards.read(call.viewer, placeOf(call as never), boardId, {
          filter: filterIn(q),
          only: { columnId, after, limit },
        });
        const [shown] = read.columns;
        return listed(await showCards(call.deps, shown!.cards, call.origin), shown!.next, shown!.count);
      },
    }),
    operation({
      ...writing,
      id: id('add', 'BoardCard'),
      method: 'POST',
      path: `${one}/cards`,
      summary: 'Add an issue or pull request to a board',
      status: 201,
      body: z.object({
        index: z.int().min(1).describe('Issue number'),
        owner: z.string().max(100).optional().describe('Path of the issue’s repository; defaults to this one'),
        repo: z.string().max(100).optional(),
        column: z.uuid().optional().describe('Defaults to the column determined by the board’s rules'),
      }),
      response: z.strictObject({ id: z.uuid() }).meta({ id: 'NewBoardCard' }),
      async run(call) {
        const place = placeOf(call as never);
        const { index, column: columnId = null } = call.body;
        const home = 'organisation' in place ? { owner: place.organisation, name: '' } : place;
        const { owner = home.owner, repo = home.name } = call.body;
        if (repo === '') throw invalid('repository_missing', 'Name the repository.', { field: 'repo' });
        const at = { owner, name: repo, number: index };
        return created({
          id: await call.deps.issues.boards.addCard(call.viewer, place, call.params.board, at, columnId),
        });
      },
    }),
    operation({
      ...writing,
      id: id('move', 'BoardCard'),
      method: 'PATCH',
      path: oneCard,
      summary: 'Move a card',
      description:
        'Moves a card to either end of a column, above another card, or by one place. Moving it to another column applies that column’s rule to the issue: adds the label, closes the issue or reopens it.',
      status: 204,
      body: z.object({
        column: z.uuid().optional(),
        to: z.enum(['top', 'bottom', 'up', 'down']).optional(),
        above: z.uuid().optional().describe('ID of the card above which to place it'),
      }),
      async run(call) {
        const at = { boardId: call.params.board, issueIds: [call.params.card] };
        await call.deps.issues.boards.moveCards(call.viewer, placeOf(call as never), at, targetOf(call.body));
        return noContent();
      },
    }),
    operation({
      ...writing,
      id: id('remove', 'BoardCard'),
      method: 'DELETE',
      path: oneCard,
      summary: 'Remove a card from a board, but keep its issue',
      status: 204,
      async run(call) {
        const at = { boardId: call.params.board, issueIds: [call.params.card] };
        if ((await call.deps.issues.boards.removeCards(call.viewer, placeOf(call as never), at)) === 0)
          throw cardNotFound();
        return noContent();
      },
    }),
  ];
}

export const allBoardOperations = [
  ...boardOperations('/repos/{owner}/{name}/boards', '', 'a repository'),
  ...boardOperations('/orgs/{org}/boards', 'Organisation', 'an organisation'),
];
