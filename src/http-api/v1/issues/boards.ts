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
  limit: z.int().min(1).max(issueLimits.cardsPerBoard).nullish().describe('Cards that it is meant to have at most'),
  rule: rule.optional().describe('Cards come by themselves and meet it after a move; null for a column filled by hand'),
  label: z.string().max(100).optional().describe('Name of the label, for the rule label'),
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
  .extend({ cards: z.int().describe('That the caller may see') })
  .meta({ id: 'CountedBoardColumn' });
const boardFields = {
  id: z.uuid(),
  title: z.string(),
  description: z.string(),
  public: z.boolean().describe('Of an organisation: for everyone, not for members alone'),
};
const listedBoard = z.strictObject(boardFields).meta({ id: 'ListedBoard' });
const board = z.strictObject({ ...boardFields, columns: z.array(column) }).meta({ id: 'Board' });
const boardWithCounts = z
  .strictObject({ ...boardFields, columns: z.array(countedColumn) })
  .meta({ id: 'CountedBoard' });
const card = z.strictObject({ id: z.uuid().describe('Of the card, on every board'), issue }).meta({ id: 'BoardCard' });

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
      summary: `List the boards of ${what}, by title`,
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
        columns: z.enum(boardPresets).optional().describe('The first ones'),
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
      description: 'What is left out stays as it is.',
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
      summary: 'Delete a board; its issues stay',
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
      summary: 'Add a column at the right of a board',
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
      summary: 'Edit a column of a board, or move it',
      description: 'What is left out stays as it is.',
      status: 204,
      body: z.object({
        ...columnFields,
        name: columnFields.name.optional(),
        move: z.enum(['left', 'right']).optional().describe('By one column'),
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
      summary: 'Delete a column; its cards leave the board',
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
      summary: 'List the cards of a column, from the top',
      description: 'Without those of issues that the caller may not read.',
      status: 200,
      isPaged: true,
      query: z.object({
        q: z.string().max(1_000).default('').describe('A filter: label:bug assignee:alice'),
        limit: z.int().min(1).max(100).default(30),
        after: z.string().max(100).optional().describe('What the Link header of the page before gave'),
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
      summary: 'Put an issue or pull request on a board',
      status: 201,
      body: z.object({
        index: z.int().min(1).describe('Number of the issue'),
        owner: z.string().max(100).optional().describe('Of its repository; this one where it is left out'),
        repo: z.string().max(100).optional(),
        column: z.uuid().optional().describe('Without it, where the rules of the board place it'),
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
        'To an end of a column, above another card of it, or by one place. In another column its issue then meets the rule of that: it gets the label, is closed or reopened.',
      status: 204,
      body: z.object({
        column: z.uuid().optional(),
        to: z.enum(['top', 'bottom', 'up', 'down']).optional(),
        above: z.uuid().optional().describe('A card'),
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
      summary: 'Take a card off a board; its issue stays',
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
