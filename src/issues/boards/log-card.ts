import type { EntryLog } from '../entries/write-entries.ts';
import type { BoardColumnRow } from '../schema/board-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/**
 * Logs that an issue was added to a board, moved to another column or removed. Omits the names of members-only boards,
 * because all readers of the issue can read its log.
 */
export async function logCard(
  log: EntryLog,
  issue: Issue,
  board: { title: string; isShown: boolean },
  from: Pick<BoardColumnRow, 'name'> | null,
  to: Pick<BoardColumnRow, 'name'> | null,
): Promise<void> {
  const names = board.isShown ? { board: board.title, from: from?.name ?? null, to: to?.name ?? null } : {};
  const kind = from === null ? 'board_added' : to === null ? 'board_removed' : 'board_moved';
  await log.append(issue, { kind, details: names, touches: false });
}
