import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { conflict } from '../kernel/index.ts';
import { findManaged, refuseUnlessOwner } from './find-organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationDeps } from './deps.ts';

const namesShown = 10;

/**
 * Deletes an organisation with its memberships and its trashed repositories. Its name stays reserved for the user who
 * deletes it.
 *
 * Throws `organisation_not_found` for everyone but an OWNER; `organisation_owns_repositories`, with their names, if any
 * are left (SPEC §3).
 */
export async function deleteOrganisation(deps: OrganisationDeps, viewer: Viewer, name: string): Promise<void> {
  const { id, name: handle } = await findManaged(deps, viewer, name);
  const tidyUp = await deps.db.write(async (tx) => {
    await refuseUnlessOwner(tx.manager, viewer, id);
    const left = await deps.ownedRepositories.namesOf(tx, id);
    if (left.length > 0) throw conflict('organisation_owns_repositories', stillOwns(handle, left));
    const tidyUp = await deps.ownedRepositories.detachTrash(tx, id);
    await deps.owners.release(tx, id, viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null);
    await deps.avatars.forget(tx, id);
    await tx.manager.delete(organisationSchema, { id });
    return tidyUp;
  });
  deps.logger.info('organisation.deleted', { organisationId: id, name: handle, by: viewerForLog(viewer) });
  // No row refers to these files any more; a start removes leftovers of a crash.
  await tidyUp();
  await deps.avatars.remove(id);
}

function stillOwns(handle: string, names: string[]): string {
  const shown = names
    .slice(0, namesShown)
    .map((each) => `${handle}/${each}`)
    .join(', ');
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : '';
  return `${handle} still owns ${shown}${more}. Transfer or delete what it owns first.`;
}
