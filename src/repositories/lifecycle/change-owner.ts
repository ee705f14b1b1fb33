import { isForeignKeyViolation } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import { branchRuleTeamSchema } from '../schema/branch-rule-schema.ts';
import { teamRepositorySchema } from '../schema/team-repository-schema.ts';
import { collaboratorSchema } from '../schema/collaborator-schema.ts';
import { isNameTaken, nameTaken } from '../create-repository.ts';
import { ownerIdOf } from '../find-repository.ts';
import { refuseDuringPush } from './refuse-during-push.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { endRedirect, addRedirectFrom } from '../redirects.ts';
import { moveSchema, transferSchema } from '../schema/transfer-schema.ts';

/**
 * Moves a repository to another owner: row, folder and redirect from the old path. Atomic; after a crash in between,
 * the next start moves the folder to where the row says.
 * @param checkAccess called inside both transactions: returns the live row, or throws. Throws what `checkAccess`
 *   throws; `push_in_progress`, `move_in_progress`; `repository_name_taken`; `owner_gone`.
 */
export async function changeOwner(
  deps: RepositoryDeps,
  repositoryId: string,
  newOwner: Owner,
  checkAccess: (tx: Tx) => Promise<Repository>,
): Promise<Repository> {
  const before = await deps.db.write(async (tx) => {
    const row = await checkAccess(tx);
    await refuseDuringPush(tx, repositoryId);
    if (await tx.manager.existsBy(moveSchema, { repositoryId })) {
      throw conflict('move_in_progress', 'This repository is already being transferred to another owner.');
    }
    await tx.manager.insert(moveSchema, { repositoryId, toOwnerId: newOwner.id });
    return row;
  });
  const from = deps.git.storage.pathOf(ownerIdOf(before), repositoryId);
  const to = deps.git.storage.pathOf(newOwner.id, repositoryId);
  let moved = false;
  try {
    await deps.git.storage.move(from, to);
    moved = true;
    return await deps.db.write(async (tx) => {
      const row = await checkAccess(tx);
      await addRedirectFrom(tx, row);
      await giveTo(tx, row, newOwner);
      await endRedirect(tx, newOwner.id, row.nameFolded);
      await tx.manager.delete(transferSchema, { repositoryId });
      await tx.manager.delete(moveSchema, { repositoryId });
      return tx.manager.findOneByOrFail(repositorySchema, { id: repositoryId });
    });
  } catch (error) {
    if (moved) await deps.git.storage.move(to, from);
    await deps.db.write(({ manager }) => manager.delete(moveSchema, { repositoryId }));
    if (isNameTaken(error)) throw nameTaken(newOwner.handle, before.name);
    if (isForeignKeyViolation(error))
      throw conflict('owner_gone', `${newOwner.handle} no longer exists.`, { cause: error });
    throw error;
  }
}

async function giveTo({ manager, now }: Tx, { id }: Repository, { kind, id: newOwnerId }: Owner): Promise<void> {
  const change = {
    ownerUserId: kind === 'user' ? newOwnerId : null,
    ownerOrganisationId: kind === 'organisation' ? newOwnerId : null,
    updatedAt: now,
  };
  await manager.update(repositorySchema, { id }, change);
  // A team gives access only to repositories of its own organisation.
  await manager.delete(teamRepositorySchema, { repositoryId: id });
  await manager
    .createQueryBuilder()
    .delete()
    .from(branchRuleTeamSchema)
    .where('rule_id IN (SELECT id FROM branch_rules WHERE repository_id = :id)', { id })
    .execute();
  // The new owner has full access; a leftover collaborator role would silently outlive the ownership.
  if (kind === 'user') await manager.delete(collaboratorSchema, { repositoryId: id, userId: newOwnerId });
}
