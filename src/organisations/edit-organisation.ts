import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { parseWebsite } from '../accounts/index.ts';
import type { ImageUpload } from '../images/index.ts';
import type { AvatarRow } from '../owners/index.ts';
import { findManaged, refuseUnlessOwner } from './find-organisation.ts';
import { parseDisplayName, parseOrganisationDescription } from './organisation.ts';
import type { Organisation } from './organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationRow } from './organisation-schema.ts';
import type { OrganisationDeps } from './deps.ts';

/** Profile fields; omitted fields stay unchanged. */
interface OrganisationProfile {
  displayName?: string;
  description?: string;
  website?: string;
}

/** Throws `organisation_not_found` for everyone but an OWNER; `invalid_text`, `text_too_long`, `invalid_website`. */
export async function editOrganisation(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  profile: OrganisationProfile,
): Promise<void> {
  const { id } = await findManaged(deps, viewer, name);
  const changes: Partial<OrganisationRow> = {};
  if (profile.displayName !== undefined) changes.displayName = parseDisplayName(profile.displayName);
  if (profile.description !== undefined) changes.description = parseOrganisationDescription(profile.description);
  if (profile.website !== undefined) changes.website = parseWebsite(profile.website);
  if (Object.keys(changes).length === 0) return;
  await deps.db.write(async ({ manager }) => {
    await refuseUnlessOwner(manager, viewer, id);
    await manager.update(organisationSchema, { id }, changes);
  });
  deps.logger.info('organisation.edited', { organisationId: id, by: viewerForLog(viewer) });
}

/**
 * Renames an organisation. The old name redirects to the new one and stays reserved, because a new owner could
 * impersonate the organisation. Throws `organisation_not_found` for everyone but an OWNER; the errors of the rules of
 * handles and `handle_taken`, with the field `name`.
 */
export async function renameOrganisation(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  newName: string,
): Promise<Organisation> {
  const organisation = await findManaged(deps, viewer, name);
  const { id } = organisation;
  const { display } = await deps.db.write(async (tx) => {
    await refuseUnlessOwner(tx.manager, viewer, id);
    const handle = await deps.owners.rename(tx, { handle: newName, kind: 'organisation', ownerId: id, field: 'name' });
    await tx.manager.update(organisationSchema, { id }, { name: handle.display });
    return handle;
  });
  deps.logger.info('organisation.renamed', {
    organisationId: id,
    before: organisation.name,
    name: display,
    by: viewerForLog(viewer),
  });
  return { ...organisation, name: display };
}

/** Throws `organisation_not_found` for everyone but an OWNER; the errors of the rules of images. */
export async function replaceAvatar(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  upload: ImageUpload,
): Promise<AvatarRow> {
  const { id } = await findManaged(deps, viewer, name);
  const avatar = await deps.avatars.replace(id, upload);
  deps.logger.info('organisation.avatar_replaced', { organisationId: id, by: viewerForLog(viewer) });
  return avatar;
}

/** Removes the avatar, if there is one. Throws `organisation_not_found` for everyone but an OWNER. */
export async function removeAvatar(deps: OrganisationDeps, viewer: Viewer, name: string): Promise<void> {
  const { id } = await findManaged(deps, viewer, name);
  await deps.avatars.remove(id);
  deps.logger.info('organisation.avatar_removed', { organisationId: id, by: viewerForLog(viewer) });
}
