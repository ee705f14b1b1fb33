import { selectRaw } from '../../db/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { FirstMove, PushRow } from '../schema/push-schema.ts';
import { maxFirstMoves } from './push-journal.ts';

/** Accepted commands, except for pull request rounds, which are not branches: the pull request shows them. */
const moves = "u.result = 'ok' AND u.ref NOT LIKE 'refs/pull/%'";

/** SQL condition for pushes that moved a ref. @param alias of `pushes` */
export const hasMoved = (alias: string): string =>
  `(${alias}.moved > 0 OR (${alias}.moved IS NULL
    AND EXISTS (SELECT 1 FROM push_updates u WHERE u.push_id = ${alias}.id AND ${moves})))`;

interface FirstMoves {
  moves: readonly FirstMove[];
  /** Number of refs that the push moved. */
  count: number;
}

/**
 * The first refs that each push moved, in the order of the push. They are stored with the push; for pushes settled by
 * an earlier version they are read from the commands.
 */
export async function firstMovesOf(
  deps: Pick<RepositoryDeps, 'db'>,
  pushes: readonly PushRow[],
): Promise<Map<string, FirstMoves>> {
  const found = new Map<string, FirstMoves>();
  for (const { id, moved, firstMoves } of pushes) {
    found.set(
      id,
      moved === null || firstMoves === null
        ? await readMoves(deps, id)
        : { moves: JSON.parse(firstMoves) as FirstMove[], count: moved },
    );
  }
  return found;
}

async function readMoves({ db }: Pick<RepositoryDeps, 'db'>, id: string): Promise<FirstMoves> {
  const [rows, counted] = await Promise.all([
    selectRaw<{ position: number; ref: string; oldId: string; newId: string }>(
      db.read,
      `SELECT u.position AS position, u.ref AS ref, u.old_id AS "oldId", u.new_id AS "newId" FROM push_updates u
        WHERE u.push_id = :id AND ${moves} ORDER BY u.position LIMIT ${maxFirstMoves}`,
      { id },
    ),
    selectRaw<{ count: number }>(
      db.read,
      `SELECT count(*) AS count FROM push_updates u WHERE u.push_id = :id AND ${moves}`,
      { id },
    ),
  ]);
  return {
    moves: rows.map(({ position, ref, oldId, newId }) => [Number(position), ref, oldId, newId]),
    count: Number(counted[0]?.count ?? 0),
  };
}
