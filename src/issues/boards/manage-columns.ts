import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import type { Tx } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { boardColumnSchema } from '../schema/board-schema.ts';
import type { BoardColumnRow, ColumnRule } from '../schema/board-schema.ts';
import { fillColumn, issuesByRule } from './fill-column.ts';
import { boardInWrite, columnNotFound, findBoard } from './find-board.ts';
import type { Board, BoardPlace } from './find-board.ts';
import { withTakenNames } from './manage-boards.ts';

interface ColumnFields {
  name: unknown;
  /** Intended limit of cards; null, 0 or empty for none. The page shows when it is exceeded. */
  limit?: unknown;
  /** `open`, `closed`, `label`; null or empty for a manual column. */
  rule?: unknown;
  /** Name of a label, for the rule `label`. */
  label?: unknown;
}

const rules: readonly string[] = ['open', 'closed', 'label'] satisfies ColumnRule[];

/**
 * Appends a column on the right and fills it by its rule. Throws `board_column_name_missing`, `board_column_taken`,
 * `too_many_columns`, `invalid_card_limit`, `invalid_column_rule`.
 */
export async function addColumn(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  boardId: string,
  fields: ColumnFields,
): Promise<BoardColumnRow> {
  const parsed = parseColumn(fields);
  const { place: found } = await findBoard(deps, viewer, place, boardId);
  const contents = found.mayEdit ? await issuesByRule(deps.db, found, parsed) : [];
  return inBoard(deps, viewer, place, boardId, async (tx, board) => {
    if (board.columns.length >= limits.columnsPerBoard)
      throw invalid('too_many_columns', `A board can have at most ${limits.columnsPerBoard} columns.`);
    const last = board.columns.at(-1)?.place ?? 0;
    const column = { id: deps.random.uuid(), boardId, place: last + 1, ...parsed };
    await tx.manager.insert(boardColumnSchema, column);
    await fillColumn(tx, column, contents);
    return column;
  });
}

/** Omitted fields stay. A new rule fills the column. Throws the same, and `board_column_not_found`. */
export async function editColumn(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  { boardId, columnId }: { boardId: string; columnId: string },
  fields: Partial<ColumnFields>,
): Promise<void> {
  const { board, place: found } = await findBoard(deps, viewer, place, boardId);
  const { name, cardLimit: limit, rule, label } = columnIn(board, columnId);
  const parsed = parseColumn({ name, limit, rule, label, ...fields });
  const isRuled = parsed.rule !== rule || foldName(parsed.label) !== foldName(label);
  const contents = isRuled && found.mayEdit ? await issuesByRule(deps.db, found, parsed) : [];
  await inBoard(deps, viewer, place, boardId, async (tx, present) => {
    const column = columnIn(present, columnId);
    await tx.manager.update(boardColumnSchema, { id: columnId }, parsed);
    await fillColumn(tx, { ...column, ...parsed }, contents);
  });
}

/** Moves a column by one to the left or right; no change at the end. */
export async function moveColumn(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  { boardId, columnId }: { boardId: string; columnId: string },
  direction: 'left' | 'right',
): Promise<void> {
  await inBoard(deps, viewer, place, boardId, async ({ manager }, { columns }) => {
    const at = columns.findIndex(({ id }) => id === columnId);
    if (at === -1) throw columnNotFound();
    const other = columns[direction === 'left' ? at - 1 : at + 1];
    if (other === undefined) return;
    await manager.update(boardColumnSchema, { id: columnId }, { place: other.place });
    await manager.update(boardColumnSchema, { id: other.id }, { place: columns[at]!.place });
  });
}

/** Its cards leave the board; their issues stay unchanged. */
export async function deleteColumn(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  { boardId, columnId }: { boardId: string; columnId: string },
): Promise<void> {
  await inBoard(deps, viewer, place, boardId, async ({ manager }, board) => {
    await manager.delete(boardColumnSchema, { id: columnIn(board, columnId).id });
  });
}

/** Throws `board_column_not_found`. */
export function columnIn(board: Pick<Board, 'columns'>, id: string): BoardColumnRow {
  const found = board.columns.find((column) => column.id === id);
  if (found === undefined) throw columnNotFound();
  return found;
}

async function inBoard<T>(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  boardId: string,
  work: (tx: Tx, board: Board) => Promise<T>,
): Promise<T> {
  const { place: found } = await findBoard(deps, viewer, place, boardId);
  return withTakenNames(() =>
    deps.db.write(async (tx) => work(tx, await boardInWrite(deps, tx, viewer, found, boardId))),
  );
}

function parseColumn({ name: givenName, limit, rule: givenRule, label: givenLabel }: ColumnFields) {
  const name = parseText(givenName, {
    field: 'column_name',
    called: 'The name',
    maxCharacters: limits.columnNameCharacters,
  });
  if (name === '') throw invalid('board_column_name_missing', 'Enter a name for the column.', { field: 'column_name' });
  const cardLimit = [undefined, null, '', 0, '0'].includes(limit as never) ? null : Number(limit);
  if (cardLimit !== null && !(Number.isInteger(cardLimit) && cardLimit > 0 && cardLimit <= limits.cardsPerBoard))
    throw invalid('invalid_card_limit', `Enter a limit from 1 to ${limits.cardsPerBoard}.`, { field: 'limit' });
  const rule = givenRule === undefined || givenRule === '' ? null : (givenRule as ColumnRule | null);
  if (rule !== null && !rules.includes(rule))
    throw invalid('invalid_column_rule', 'A column can follow “open”, “closed” or a label.', { field: 'rule' });
  const label = parseText(rule === 'label' ? (givenLabel ?? '') : '', {
    field: 'label',
    called: 'The label',
    maxCharacters: limits.labelNameCharacters,
  });
  if (rule === 'label' && label === '')
    throw invalid('invalid_column_rule', 'Enter the label that the column follows.', { field: 'label' });
  return { name, nameFolded: foldName(name), cardLimit, rule, label };
}
