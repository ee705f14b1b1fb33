import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { boardColumnSchema, boardSchema } from '../schema/board-schema.ts';
import type { BoardRow, ColumnRule } from '../schema/board-schema.ts';
import { fillColumn, issuesByRule } from './fill-column.ts';
import { boardInWrite, findBoard, findPlace, refuseEditInWrite, seesMembersBoards } from './find-board.ts';
import type { Board, BoardPlace } from './find-board.ts';

interface BoardFields {
  title: unknown;
  description?: unknown;
  /** For organisations: whether everyone can see it. */
  isPublic?: boolean;
}

/** Default columns of a new board. */
export const boardPresets = ['basic', 'state', 'none'] as const;
export type BoardPreset = (typeof boardPresets)[number];

const presets: Readonly<Record<BoardPreset, readonly { name: string; rule: ColumnRule | null }[]>> = {
  basic: ['To do', 'In progress', 'Done'].map((name) => ({ name, rule: null })),
  state: [
    { name: 'Open', rule: 'open' },
    { name: 'In progress', rule: null },
    { name: 'Closed', rule: 'closed' },
  ],
  none: [],
};

/** The boards of a place that the viewer can read, sorted by title. */
export async function listBoards(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
): Promise<{ boards: BoardRow[]; mayEdit: boolean }> {
  const { repositoryId, organisationId, mayEdit } = await findPlace(deps, viewer, place);
  // Some dozens at most.
  const rows = await deps.db.read.findBy(
    boardSchema,
    repositoryId === null ? { organisationId: organisationId! } : { repositoryId },
  );
  const seesAll = organisationId === null || (await seesMembersBoards(deps, viewer, organisationId));
  const boards = rows
    .filter(({ isPublic }) => seesAll || isPublic)
    .sort((one, other) => (one.titleFolded < other.titleFolded ? -1 : 1));
  return { boards, mayEdit };
}

/** Throws `board_title_missing`, `board_taken`, `too_many_boards`, and permission errors. */
export async function addBoard(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  fields: BoardFields,
  preset: BoardPreset = 'basic',
): Promise<Board> {
  const parsed = parseBoard(fields);
  const found = await findPlace(deps, viewer, place);
  const { repositoryId, organisationId } = found;
  const contents = await Promise.all(
    presets[preset].map(({ rule }) => issuesByRule(deps.db, found, { rule, label: '' })),
  );
  return withTakenNames(() =>
    deps.db.write(async (tx) => {
      await refuseEditInWrite(deps, tx, viewer, found);
      const own = repositoryId === null ? { organisationId: organisationId! } : { repositoryId };
      if ((await tx.manager.countBy(boardSchema, own)) >= limits.boardsPerPlace)
        throw invalid('too_many_boards', `At most ${limits.boardsPerPlace} boards can be created here.`);
      const board: BoardRow = { id: deps.random.uuid(), repositoryId, organisationId, ...parsed, createdAt: tx.now };
      await tx.manager.insert(boardSchema, board);
      const columns = presets[preset].map(({ name, rule }, at) => ({
        id: deps.random.uuid(),
        boardId: board.id,
        name,
        nameFolded: foldName(name),
        place: at + 1,
        cardLimit: null,
        rule,
        label: '',
      }));
      if (columns.length > 0) await tx.manager.insert(boardColumnSchema, columns);
      for (const [at, column] of columns.entries()) await fillColumn(tx, column, contents[at]!);
      return { ...board, columns };
    }),
  );
}

/** Omitted fields stay. Throws the same, and `board_not_found`. */
export async function editBoard(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  id: string,
  fields: Partial<BoardFields>,
): Promise<void> {
  const { board, place: found } = await findBoard(deps, viewer, place, id);
  const parsed = parseBoard({
    title: board.title,
    description: board.description,
    isPublic: board.isPublic,
    ...fields,
  });
  await withTakenNames(() =>
    deps.db.write(async (tx) => {
      await boardInWrite(deps, tx, viewer, found, id);
      await tx.manager.update(boardSchema, { id }, parsed);
    }),
  );
}

/** Its issues and pull requests stay unchanged. */
export async function deleteBoard(deps: IssueDeps, viewer: Viewer, place: BoardPlace, id: string): Promise<void> {
  const { place: found } = await findBoard(deps, viewer, place, id);
  await deps.db.write(async (tx) => {
    await boardInWrite(deps, tx, viewer, found, id);
    await tx.manager.delete(boardSchema, { id });
  });
}

function parseBoard({ title: given, description = '', isPublic = false }: BoardFields) {
  const title = parseText(given, { field: 'title', called: 'The title', maxCharacters: limits.boardTitleCharacters });
  if (title === '') throw invalid('board_title_missing', 'Enter a title for the board.', { field: 'title' });
  return {
    title,
    titleFolded: foldName(title),
    description: parseText(description, {
      field: 'description',
      called: 'The description',
      maxCharacters: limits.descriptionCharacters,
      manyLines: true,
    }),
    isPublic,
  };
}

/** Runs a transaction that may fail because a board title or column name is taken. */
export async function withTakenNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'boards_repository_title') || isUniqueViolation(error, 'boards_organisation_title'))
      throw conflict('board_taken', 'A board with this title already exists.', { field: 'title' });
    if (isUniqueViolation(error, 'board_columns_name'))
      throw conflict('board_column_taken', 'This board already has a column with this name.', { field: 'column_name' });
    throw error;
  }
}
