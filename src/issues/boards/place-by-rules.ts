import { selectRaw, selectRows } from '../../db/index.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { labelsOf } from '../labels/set-labels.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { boardCardSchema, boardColumnSchema } from '../schema/board-schema.ts';
import type { BoardColumnRow } from '../schema/board-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { countCards } from './fill-column.ts';
import { keyAtEnd } from './order-keys.ts';
import { logCard } from './log-card.ts';

/** Facts of an entry that rules can match. */
const kinds: readonly string[] = ['opened', 'labelled', 'unlabelled', 'closed', 'reopened', 'merged'];

type RuledColumn = Pick<BoardColumnRow, 'id' | 'name' | 'rule' | 'label'>;

/**
 * The column in which an issue belongs after a change, by the rules of a board; null for none. A column for closed
 * issues takes precedence over labels, and a label just added over others. If no rule matches, the issue stays, or
 * moves from a column whose rule it no longer matches to the first column without a rule.
 * @param present its current column; null if it is not on the board
 * @param labels folded names
 */
export function columnByRules(
  columns: readonly RuledColumn[],
  present: RuledColumn | null,
  { isOpen, labels, added }: { isOpen: boolean; labels: ReadonlySet<string>; added: ReadonlySet<string> },
): RuledColumn | null {
  const closed = columns.find(({ rule }) => rule === 'closed');
  if (!isOpen && closed !== undefined) return closed;
  const has = (names: ReadonlySet<string>) => (column: RuledColumn) =>
    column.rule === 'label' && names.has(foldName(column.label));
  const byAdded = columns.find(has(added));
  if (byAdded !== undefined) return byAdded;
  if (present !== null && (has(labels)(present) || (present.rule === 'open' && isOpen && !columns.some(has(labels)))))
    return present;
  const byLabel = columns.find(has(labels));
  if (byLabel !== undefined && (present === null || present.rule !== null)) return byLabel;
  if (present !== null && present.rule === null) return present;
  const open = isOpen ? columns.find(({ rule }) => rule === 'open') : undefined;
  if (open !== undefined) return open;
  if (present === null) return null;
  if (present.rule === 'closed' && !isOpen) return present;
  return columns.find(({ rule }) => rule === null) ?? null;
}

/**
 * Places an issue on the boards that have rules after an entry of its log, in the same transaction. Skips a board on
 * which a card is being moved manually, because that move takes precedence.
 */
export async function placeByRules(
  log: EntryLog,
  issue: Issue,
  entry: { kind: string; details?: Record<string, unknown> },
): Promise<void> {
  if (!kinds.includes(entry.kind)) return;
  const { manager } = log.tx;
  const columns = await selectRows(
    manager,
    boardColumnSchema,
    `SELECT c.* FROM board_columns c WHERE c.board_id IN (
       SELECT b.id FROM boards b WHERE b.repository_id = :repositoryId
       UNION ALL SELECT x.id FROM repositories r JOIN boards x ON x.organisation_id = r.owner_org_id
       WHERE r.id = :repositoryId)`,
    { repositoryId: issue.repositoryId },
  );
  const boardIds = new Set(columns.flatMap(({ boardId, rule }) => (rule === null ? [] : [boardId])));
  boardIds.delete(log.boardInHand ?? '');
  if (boardIds.size === 0) return;
  const labels = new Set((await labelsOf(log.tx, issue.id)).map(({ nameFolded }) => nameFolded));
  const given = entry.kind === 'labelled' ? entry.details?.['labels'] : undefined;
  const added = new Set((Array.isArray(given) ? (given as { name: string }[]) : []).map(({ name }) => foldName(name)));
  for (const boardId of boardIds) {
    const own = columns.filter((column) => column.boardId === boardId).sort((one, other) => one.place - other.place);
    const card = await manager.findOneBy(boardCardSchema, { boardId, issueId: issue.id });
    const present = own.find(({ id }) => id === card?.columnId) ?? null;
    const target = columnByRules(own, present, { isOpen: issue.state === 'OPEN', labels, added });
    if (target?.id === present?.id) continue;
    if (target === null) await manager.delete(boardCardSchema, { boardId, issueId: issue.id });
    else {
      if (card === null && (await countCards(log.tx, boardId)) >= limits.cardsPerBoard) continue;
      const orderKey = await keyAtEnd(log.tx, target.id, 'top');
      if (card === null)
        await manager.insert(boardCardSchema, { boardId, issueId: issue.id, columnId: target.id, orderKey });
      else await manager.update(boardCardSchema, { boardId, issueId: issue.id }, { columnId: target.id, orderKey });
    }
    const [board] = await selectRaw<{ title: string; isShown: number }>(
      manager,
      `SELECT b.title AS title, CASE WHEN b.repository_id IS NOT NULL OR b.is_public = 1 THEN 1 ELSE 0 END AS "isShown"
       FROM boards b WHERE b.id = :boardId`,
      { boardId },
    );
    await logCard(log, issue, { title: board!.title, isShown: Number(board!.isShown) === 1 }, present, target);
  }
}
