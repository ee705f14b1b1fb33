import type { Tx } from '../../db/index.ts';

/** Gap between cards added one after the other: allows sixteen moves to the same place. */
const step = 65_536;

/** A key between two others, each null at an end; null if there is no gap between them. Keys stay far below 2^53. */
export function keyBetween(above: number | null, below: number | null): number | null {
  if (above === null) return below === null ? 0 : below - step;
  if (below === null) return above + step;
  const middle = Math.floor((above + below) / 2);
  return middle > above && middle < below ? middle : null;
}

/** Reassigns the keys of a column's cards with gaps, keeping their order, in one statement. */
export async function spreadKeys({ manager }: Pick<Tx, 'manager'>, columnId: string): Promise<void> {
  await manager.query(
    `UPDATE board_cards SET order_key = x.n * ${step} FROM (
       SELECT c.issue_id AS issue_id, c.board_id AS board_id,
         row_number() OVER (ORDER BY c.order_key, c.issue_id) AS n
       FROM board_cards c WHERE c.column_id = ?
     ) x WHERE x.issue_id = board_cards.issue_id AND x.board_id = board_cards.board_id`,
    [columnId],
  );
}

/** A key above or below all cards of a column. */
export async function keyAtEnd(
  { manager }: Pick<Tx, 'manager'>,
  columnId: string,
  end: 'top' | 'bottom',
): Promise<number> {
  const [row]: { key: number | null }[] = await manager.query(
    `SELECT ${end === 'top' ? 'min' : 'max'}(c.order_key) AS key FROM board_cards c WHERE c.column_id = ?`,
    [columnId],
  );
  const key = row?.key == null ? null : Number(row.key);
  return end === 'top' ? keyBetween(null, key)! : keyBetween(key, null)!;
}
