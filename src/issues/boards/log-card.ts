import type { EntryLog } from '../entries/write-entries.ts';
import type { BoardColumnRow } from '../schema/board-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/**
 * Writes into the log of an issue that it came on a board, went to another column or left it. The names of a board for
 * members are left out: all readers of the issue read its log.
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
