import { IsNull } from 'typeorm';
import type { EntityManager, FindOptionsWhere } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { OwnedRepositories } from '../../organisations/index.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { inTrash, removeTrashed } from './trash.ts';

/** Repositories of a user or an organisation, in two queries: each uses an index, a combined query could not. */
async function ofOwner(manager: EntityManager, ownerId: string, where: FindOptionsWhere<Repository>) {
  return [
    ...(await manager.findBy(repositorySchema, { ...where, ownerUserId: ownerId })),
    ...(await manager.findBy(repositorySchema, { ...where, ownerOrganisationId: ownerId })),
  ];
}

/** Used before an organisation is deleted (SPEC §3), and for accounts. */
export function ownedRepositoriesIn(deps: RepositoryDeps): OwnedRepositories {
  return {
    async namesOf({ manager }, ownerId) {
      const rows = await ofOwner(manager, ownerId, { deletedAt: IsNull() });
      return rows.sort((a, b) => (a.nameFolded < b.nameFolded ? -1 : 1)).map(({ name }) => name);
    },
    async detachTrash({ manager }, ownerId) {
      const rows = await ofOwner(manager, ownerId, inTrash);
      for (const { id } of rows) await manager.delete(repositorySchema, { id });
      return async () => {
        for (const row of rows) {
          const { id } = row;
          await removeTrashed(deps, row);
          deps.logger.info('repository.purged', { repositoryId: id });
        }
      };
    },
  };
}

/**
 * For the transaction that deletes an account: throws `person_owns_repositories`, with their names, if the account
 * still owns repositories.
 */
export async function refuseOwner(ownedRepositories: OwnedRepositories, tx: Tx, personId: string): Promise<void> {
  const names = await ownedRepositories.namesOf(tx, personId);
  if (names.length === 0) return;
  const shown = names.slice(0, 10).join(', ');
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  throw conflict('person_owns_repositories', `This user still owns ${shown}${more}. Transfer or delete these first.`);
}
