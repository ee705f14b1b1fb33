import { idsIn, inList, selectRaw } from '../../db/index.ts';
import type { Database, Tx } from '../../db/index.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import type { BoardColumnRow, BoardRow } from '../schema/board-schema.ts';
import { spreadKeys } from './order-keys.ts';

type Place = Pick<BoardRow, 'repositoryId' | 'organisationId'>;
type Rule = Pick<BoardColumnRow, 'rule' | 'label'>;

interface Found {
  id: string;
  createdAt: number;
}

/** Repositories of an organisation in which a new rule searches for issues. */
const maxRepositories = 2_000;
const listed = 'i.deleted_at IS NULL AND i.held_at IS NULL';

/**
 * The newest issues and pull requests that match a rule, as many as a board takes. Read before the transaction that
 * fills the column.
 */
export async function issuesByRule(db: Database, place: Place, { rule, label }: Rule): Promise<string[]> {
  if (rule === null) return [];
  const repositories =
    place.repositoryId === null
      ? await selectRaw<{ id: string }>(
          db.read,
          `SELECT r.id AS id FROM repositories r WHERE r.owner_org_id = :id AND r.deleted_at IS NULL
           LIMIT ${maxRepositories}`,
          { id: place.organisationId },
        )
      : [{ id: place.repositoryId }];
  const ids = repositories.map(({ id }) => id);
  const found = rule === 'label' ? await labelled(db, ids, label) : await inState(db, ids, rule);
  return found
    .sort((one, other) => other.createdAt - one.createdAt)
    .slice(0, limits.cardsPerBoard)
    .map(({ id }) => id);
}

async function inState(db: Database, repositoryIds: readonly string[], rule: 'open' | 'closed'): Promise<Found[]> {
  const states = rule === 'open' ? ['OPEN'] : ['CLOSED', 'MERGED'];
  const found: Found[] = [];
  for (const repositoryId of repositoryIds)
    for (const kind of ['ISSUE', 'PULL'])
      for (const state of states)
        found.push(
          ...(await selectRaw<Found>(
            db.read,
            `SELECT i.id AS id, i.created_at AS "createdAt" FROM issues i
             WHERE i.repository_id = :repositoryId AND i.kind = :kind AND i.state = :state AND ${listed}
             ORDER BY i.number DESC LIMIT ${limits.cardsPerBoard}`,
            { repositoryId, kind, state },
          )),
        );
  return found;
}

async function labelled(db: Database, repositoryIds: readonly string[], label: string): Promise<Found[]> {
  const [among, parameters] = idsIn('i.repository_id', repositoryIds);
  // Two rows if a repository label and an organisation label have the same name.
  const rows = await selectRaw<Found>(
    db.read,
    `SELECT i.id AS id, i.created_at AS "createdAt" FROM labels l
       JOIN issue_labels x ON x.label_id = l.id JOIN issues i ON i.id = x.issue_id
     WHERE l.name_folded = :name AND ${among} AND i.state = 'OPEN' AND ${listed} LIMIT ${limits.cardsPerBoard}`,
    { ...parameters, name: foldName(label) },
  );
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/**
 * Adds issues to a column unless they are on its board already, no longer match its state, or the board is full. Their
 * logs stay unchanged.
 * @param issueIds result of `issuesByRule`
 */
export async function fillColumn(
  { manager }: Pick<Tx, 'manager'>,
  { boardId, id: columnId, rule }: Pick<BoardColumnRow, 'boardId' | 'id' | 'rule'>,
  issueIds: readonly string[],
): Promise<void> {
  const free = limits.cardsPerBoard - (await countCards({ manager }, boardId));
  if (issueIds.length === 0 || free <= 0) return;
  const states = rule === 'closed' ? "'CLOSED', 'MERGED'" : "'OPEN'";
  await manager.query(
    `INSERT INTO board_cards (board_id, issue_id, column_id, order_key)
     SELECT ?, i.id, ?, 0 - i.created_at FROM issues i
     WHERE ${inList('i.id')} AND i.state IN (${states})
       AND NOT EXISTS (SELECT 1 FROM board_cards c WHERE c.board_id = ? AND c.issue_id = i.id)`,
    [boardId, columnId, JSON.stringify(issueIds.slice(0, free)), boardId],
  );
  await spreadKeys({ manager }, columnId);
}

/** All cards of a board, for every viewer. */
export async function countCards({ manager }: Pick<Tx, 'manager'>, boardId: string): Promise<number> {
  const [row]: { n: number }[] = await manager.query('SELECT count(*) AS n FROM board_cards WHERE board_id = ?', [
    boardId,
  ]);
  return Number(row!.n);
}
