import { personIdOf, refusalInRepository, refusalOnBoard } from '../../access/index.ts';
import type { BoardAct, Viewer } from '../../access/index.ts';
import { rowBy } from '../../db/index.ts';
import type { RowSource, Tx } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { refuse } from '../issue-errors.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { boardColumnSchema, boardSchema } from '../schema/board-schema.ts';
import type { BoardColumnRow, BoardRow } from '../schema/board-schema.ts';

/** Owner of boards: a repository, or an organisation, whose boards have cards of all its repositories. */
export type BoardPlace = RepositoryAt | { organisation: string };

/** A board as callers see it, with its columns from left to right. */
export interface Board extends BoardRow {
  columns: BoardColumnRow[];
}

/** The resolved owner of boards. Exactly one of the two ids is set. */
export interface FoundPlace {
  repositoryId: string | null;
  organisationId: string | null;
  repository: Repository | null;
  /** Null when allowed. */
  mayEdit: boolean;
}

const boardNotFound = () => notFound('board_not_found', 'Board not found');
export const columnNotFound = () => notFound('board_column_not_found', 'Column not found');
export const cardNotFound = () => notFound('board_card_not_found', 'Card not found');

/**
 * Finds the owner of boards. Read access to an organisation's board is checked per board. Throws
 * `repository_not_found`, `board_not_found` if the organisation does not exist.
 */
export async function findPlace(deps: IssueDeps, viewer: Viewer, place: BoardPlace): Promise<FoundPlace> {
  if ('organisation' in place) {
    const owner = await deps.owners.resolve(place.organisation);
    if (owner?.kind !== 'organisation') throw boardNotFound();
    const mayEdit = (await organisationRefusal(deps, deps.db.lookup, viewer, owner.id, true, 'edit')) === null;
    return { repositoryId: null, organisationId: owner.id, repository: null, mayEdit };
  }
  const { repository, facts } = await findRepositoryContext(deps, viewer, place);
  const mayEdit = refusalInRepository(viewer, facts, 'triage') === null;
  return { repositoryId: repository.id, organisationId: null, repository, mayEdit };
}

async function organisationRefusal(
  { organisations }: Pick<IssueDeps, 'organisations'>,
  source: RowSource,
  viewer: Viewer,
  organisationId: string,
  isPublic: boolean,
  act: BoardAct,
) {
  const personId = personIdOf(viewer);
  const organisationRole = personId === null ? null : await organisations.roleOf(personId, organisationId, source);
  return refusalOnBoard(viewer, { organisationRole, isPublic }, act);
}

/** Whether a viewer can see the members-only boards of an organisation. */
export const seesMembersBoards = async (deps: IssueDeps, viewer: Viewer, organisationId: string): Promise<boolean> =>
  (await organisationRefusal(deps, deps.db.lookup, viewer, organisationId, false, 'read')) === null;

/** A board that the viewer can read. Throws `board_not_found`. */
export async function findBoard(
  deps: IssueDeps,
  viewer: Viewer,
  place: BoardPlace,
  id: string,
): Promise<{ board: Board; place: FoundPlace }> {
  const found = await findPlace(deps, viewer, place);
  const { repositoryId, organisationId } = found;
  const row = await rowBy(
    deps.db.read,
    boardSchema,
    repositoryId === null ? { id, organisationId: organisationId! } : { id, repositoryId },
  );
  if (row === null) throw boardNotFound();
  if (organisationId !== null && !row.isPublic && !(await seesMembersBoards(deps, viewer, organisationId)))
    throw boardNotFound();
  return { board: { ...row, columns: await columnsOf(deps.db.read, id) }, place: found };
}

/** The columns of a board from left to right: some dozens at most. */
const columnsOf = (manager: Pick<Tx['manager'], 'findBy'>, boardId: string): Promise<BoardColumnRow[]> =>
  manager.findBy(boardColumnSchema, { boardId }).then((rows) => rows.sort((one, other) => one.place - other.place));

/**
 * Checks inside a transaction whether the viewer may edit the boards of a place.
 * @returns the repository, if the place is one
 */
export async function refuseEditInWrite(
  deps: IssueDeps,
  tx: Tx,
  viewer: Viewer,
  { repositoryId, organisationId }: Pick<FoundPlace, 'repositoryId' | 'organisationId'>,
): Promise<void> {
  if (repositoryId !== null) {
    const { facts } = await repositoryInWrite(deps, tx, viewer, repositoryId);
    refuse(refusalInRepository(viewer, facts, 'triage'));
  } else refuse(await organisationRefusal(deps, tx.manager, viewer, organisationId!, true, 'edit'));
}

/** The same for one board, with its columns. Throws `board_not_found`. */
export async function boardInWrite(
  deps: IssueDeps,
  tx: Tx,
  viewer: Viewer,
  place: Pick<FoundPlace, 'repositoryId' | 'organisationId'>,
  id: string,
): Promise<Board> {
  await refuseEditInWrite(deps, tx, viewer, place);
  const row = await tx.manager.findOneBy(boardSchema, { id });
  if (row === null || row.repositoryId !== place.repositoryId || row.organisationId !== place.organisationId)
    throw boardNotFound();
  return { ...row, columns: await columnsOf(tx.manager, id) };
}
