import { refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { writeEntries } from '../entries/write-entries.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { findIssue, repositoryInWrite } from '../find-issue.ts';
import { contextFor, factsOfIssue } from '../issue-context.ts';
import type { IssueAt, IssueContext } from '../issue-context.ts';
import { refuse } from '../issue-errors.ts';
import { addAndRemoveLabels, labelsOf } from '../labels/set-labels.ts';
import { close, reopen } from '../lifecycle/change-state.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { boardCardSchema } from '../schema/board-schema.ts';
import type { BoardCardRow, BoardColumnRow } from '../schema/board-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { countCards } from './fill-column.ts';
import { boardInWrite, cardNotFound, findBoard } from './find-board.ts';
import type { Board, BoardPlace, FoundPlace } from './find-board.ts';
import { neighbourOf } from './list-cards.ts';
import { logCard } from './log-card.ts';
import { columnIn } from './manage-columns.ts';
import { keyAtEnd, keyBetween, spreadKeys } from './order-keys.ts';
import { columnByRules } from './place-by-rules.ts';

/** Destination of a card: an end of a column, above another card of it, or one place up or down in its own column. */
export type CardTarget =
  | { columnId: string; to: 'top' | 'bottom' }
  | { columnId: string; above: string }
  | { to: 'up' | 'down' };

/**
 * Adds an issue or pull request to a board, in the column that its rules select, else on top of the first column. An
 * existing card stays in place. Throws `card_from_elsewhere`, `too_many_cards`, `board_without_columns`, and permission
 * errors.
 * @param columnId column for it, whose rule is then applied to it
 * @returns the id of the issue, which is also the id of the card
 */
export async function addCard(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  boardId: string,
  at: IssueAt,
  columnId: string | null = null,
): Promise<string> {
  const { place: found } = await findBoard(deps, viewer, place, boardId);
  const target = await findIssue(deps, viewer, at);
  return writeEntries(deps, viewer, async (log) => {
    const board = await boardInWrite(deps, log.tx, viewer, found, boardId);
    const context = await cardContext(deps, log, viewer, board, target.issue.id, cardFromElsewhere);
    refuse(refusalOnIssue(viewer, context.facts, factsOfIssue(context.issue), 'triage'), context.issue.kind);
    const card = { boardId, issueId: context.issue.id };
    if (await log.tx.manager.existsBy(boardCardSchema, card)) return context.issue.id;
    if ((await countCards(log.tx, boardId)) >= limits.cardsPerBoard)
      throw invalid('too_many_cards', `A board can have at most ${limits.cardsPerBoard} cards.`);
    const column = columnId === null ? await columnFor(log, board, context) : columnIn(board, columnId);
    const orderKey = await keyAtEnd(log.tx, column.id, 'top');
    await log.tx.manager.insert(boardCardSchema, { ...card, columnId: column.id, orderKey });
    await logCard(log, context.issue, shown(board), null, column);
    if (columnId !== null) await meetRule(deps, log, context, board, null, column);
    return context.issue.id;
  });
}

async function columnFor(log: EntryLog, { columns }: Board, { issue }: IssueContext): Promise<BoardColumnRow> {
  const labels = new Set((await labelsOf(log.tx, issue.id)).map(({ nameFolded }) => nameFolded));
  const isOpen = issue.state === 'OPEN';
  const ruled = columnByRules(columns, null, { isOpen, labels, added: new Set() });
  const column = columns.find(({ id }) => id === ruled?.id) ?? columns[0];
  if (column === undefined) throw invalid('board_without_columns', 'This board has no columns yet.');
  return column;
}

/**
 * Moves cards, each above the next one in the list. A move into another column requires permission to triage the issue,
 * and applies the column's rule: adds the label, closes or reopens. Each card has its own transaction; if the card
 * above which one was to go has left the column, it goes to the bottom. Throws `board_card_not_found`,
 * `board_column_not_found`, `card_does_not_fit`, `too_many_cards`, errors of labels and states, and permission errors.
 */
export async function moveCards(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  { boardId, issueIds }: { boardId: string; issueIds: readonly string[] },
  target: CardTarget,
): Promise<void> {
  if (issueIds.length > limits.cardsPerMove)
    throw invalid('too_many_cards', `At most ${limits.cardsPerMove} cards can be moved at a time.`);
  const { place: found } = await findBoard(deps, viewer, place, boardId);
  const unique = [...new Set(issueIds)];
  const isUpward = 'above' in target || target.to === 'bottom' || target.to === 'up';
  for (const issueId of isUpward ? unique : unique.reverse())
    await moveCard(deps, viewer, found, boardId, issueId, target);
}

async function moveCard(
  deps: IssueDeps,
  viewer: Viewer,
  found: FoundPlace,
  boardId: string,
  issueId: string,
  target: CardTarget,
): Promise<void> {
  const passed = 'columnId' in target ? null : await passedBy(deps, viewer, found, boardId, issueId, target.to);
  await writeEntries(deps, viewer, async (log) => {
    const { manager } = log.tx;
    const board = await boardInWrite(deps, log.tx, viewer, found, boardId);
    const context = await cardContext(deps, log, viewer, board, issueId);
    const card = await manager.findOneBy(boardCardSchema, { boardId, issueId });
    if (card === null) throw cardNotFound();
    const from = columnIn(board, card.columnId);
    const to = 'columnId' in target ? columnIn(board, target.columnId) : from;
    if (to.id !== from.id)
      refuse(refusalOnIssue(viewer, context.facts, factsOfIssue(context.issue), 'triage'), context.issue.kind);
    const orderKey = await keyFor(log, card, to, target, passed);
    if (orderKey === null) return;
    await manager.update(boardCardSchema, { boardId, issueId }, { columnId: to.id, orderKey });
    if (to.id === from.id) return;
    await logCard(log, context.issue, shown(board), from, to);
    await meetRule(deps, log, context, board, from, to);
  });
}

/** The card to swap with; null at the end of its column. */
async function passedBy(
  deps: IssueDeps,
  viewer: Viewer,
  found: FoundPlace,
  boardId: string,
  issueId: string,
  direction: 'up' | 'down',
): Promise<string | null> {
  const card = await deps.db.read.findOneBy(boardCardSchema, { boardId, issueId });
  if (card === null) throw cardNotFound();
  return neighbourOf(deps, viewer, found, card, direction);
}

/** Null if the card stays. */
async function keyFor(
  log: EntryLog,
  card: BoardCardRow,
  to: BoardColumnRow,
  target: CardTarget,
  passed: string | null,
): Promise<number | null> {
  if ('columnId' in target) {
    if (!('above' in target)) return keyAtEnd(log.tx, to.id, target.to);
    return (await keyBeside(log, card, to.id, target.above, 'above')) ?? keyAtEnd(log.tx, to.id, 'bottom');
  }
  return passed === null ? null : keyBeside(log, card, to.id, passed, target.to === 'up' ? 'above' : 'below');
}

/** A key above or below another card; null if that is not in the column or is the card itself. */
async function keyBeside(
  log: EntryLog,
  { boardId, issueId }: BoardCardRow,
  columnId: string,
  otherId: string,
  side: 'above' | 'below',
): Promise<number | null> {
  const { manager } = log.tx;
  for (let tries = 0; tries < 2; tries += 1) {
    const other = await manager.findOneBy(boardCardSchema, { boardId, issueId: otherId, columnId });
    if (other === null) return null;
    if (otherId === issueId) return other.orderKey;
    const [than, order] = side === 'above' ? ['<', 'DESC'] : ['>', 'ASC'];
    const [next]: { key: number }[] = await manager.query(
      `SELECT c.order_key AS key FROM board_cards c WHERE c.column_id = ? AND c.issue_id <> ?
         AND (c.order_key, c.issue_id) ${than} (?, ?)
       ORDER BY c.order_key ${order}, c.issue_id ${order} LIMIT 1`,
      [columnId, issueId, other.orderKey, otherId],
    );
    const nextKey = next === undefined ? null : Number(next.key);
    const key = side === 'above' ? keyBetween(nextKey, other.orderKey) : keyBetween(other.orderKey, nextKey);
    if (key !== null) return key;
    await spreadKeys(log.tx, columnId);
  }
  return null;
}

/**
 * Applies the rule of the column to which an issue was moved: removes labels of other columns, adds its own, and
 * reopens an issue that leaves a column for closed ones.
 */
async function meetRule(
  deps: IssueDeps,
  log: EntryLog,
  context: IssueContext,
  board: Board,
  from: BoardColumnRow | null,
  to: BoardColumnRow,
): Promise<void> {
  const { issue } = context;
  log.boardInHand = board.id;
  try {
    if (to.rule === 'closed') {
      await close(log, issue, 'completed');
      return;
    }
    const present = new Set((await labelsOf(log.tx, issue.id)).map(({ nameFolded }) => nameFolded));
    const add = to.rule === 'label' && !present.has(foldName(to.label)) ? [to.label] : [];
    const remove = board.columns.flatMap(({ rule, label }) =>
      rule === 'label' && foldName(label) !== foldName(to.label) && present.has(foldName(label)) ? [label] : [],
    );
    if (from !== null || to.rule === 'label')
      if (add.length + remove.length > 0) await addAndRemoveLabels(log, context, { add, remove });
    if (issue.state === 'MERGED' && to.rule !== null)
      throw invalid('card_does_not_fit', 'A merged pull request is no longer open.', { field: 'column' });
    if (to.rule !== null || from?.rule === 'closed') await reopen(deps, log, issue);
  } finally {
    log.boardInHand = null;
  }
}

/**
 * Removes cards from a board, ignoring missing ones. Issues and their labels stay unchanged. Throws permission errors,
 * except for issues of archived repositories, whose logs stay unchanged.
 * @returns how many there were
 */
export async function removeCards(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  { boardId, issueIds }: { boardId: string; issueIds: readonly string[] },
): Promise<number> {
  if (issueIds.length > limits.cardsPerMove)
    throw invalid('too_many_cards', `At most ${limits.cardsPerMove} cards can be removed at a time.`);
  const { place: found } = await findBoard(deps, viewer, place, boardId);
  let removed = 0;
  for (const issueId of new Set(issueIds))
    await writeEntries(deps, viewer, async (log) => {
      const board = await boardInWrite(deps, log.tx, viewer, found, boardId);
      const context = await cardContext(deps, log, viewer, board, issueId).catch((error: unknown) => {
        if (isDomainError(error) && error.code === 'not_found') return null;
        throw error;
      });
      if (context === null) return;
      const card = await log.tx.manager.findOneBy(boardCardSchema, { boardId, issueId });
      if (card === null) return;
      const refusal = refusalOnIssue(viewer, context.facts, factsOfIssue(context.issue), 'triage');
      if (refusal !== 'archived') refuse(refusal, context.issue.kind);
      await log.tx.manager.delete(boardCardSchema, { boardId, issueId });
      removed += 1;
      if (refusal === null) await logCard(log, context.issue, shown(board), columnIn(board, card.columnId), null);
    });
  return removed;
}

const shown = ({ title, repositoryId, isPublic }: Board) => ({ title, isShown: repositoryId !== null || isPublic });

const cardFromElsewhere = () =>
  invalid('card_from_elsewhere', 'This issue or pull request is outside the scope of this board.', { field: 'issue' });

/**
 * The issue of a card, as the transaction sees it. Throws `board_card_not_found` if the viewer cannot read it.
 * @param elsewhere the error for an issue outside the board's place
 */
async function cardContext(
  deps: IssueDeps,
  log: EntryLog,
  viewer: Viewer,
  board: Board,
  issueId: string,
  elsewhere: () => DomainError = cardNotFound,
): Promise<IssueContext> {
  const issue = await log.tx.manager.findOneBy(issueSchema, { id: issueId });
  if (issue === null) throw cardNotFound();
  const found = await repositoryInWrite(deps, log.tx, viewer, issue.repositoryId);
  const context = { ...contextFor(found, issue.kind), issue };
  if (refusalOnIssue(viewer, context.facts, factsOfIssue(issue), 'read') !== null) throw cardNotFound();
  const { repository } = found;
  if (
    board.repositoryId === null
      ? repository.ownerOrganisationId !== board.organisationId
      : repository.id !== board.repositoryId
  )
    throw elsewhere();
  return context;
}
