import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { ImageUpload } from '../images/index.ts';
import type { AvatarRow } from '../owners/index.ts';
import { findManaged, refuseUnlessOwner } from './find-organisation.ts';
import { parseDisplayName, parseOrganisationDescription } from './organisation.ts';
import type { Organisation } from './organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationRow } from './organisation-schema.ts';
import type { OrganisationDeps } from './deps.ts';

/** What an organisation says of itself; a field left out stays as it is. */
export interface OrganisationProfile {
  displayName?: string;
  description?: string;
}

/** Refuses `organisation_not_found` to everyone but an OWNER; `invalid_text`, `text_too_long`. */
export async function editOrganisation(
  room: OrganisationDeps,
  viewer: Viewer,
  name: string,
  profile: OrganisationProfile,
): Promise<void> {
  const { id } = await findManaged(room, viewer, name);
  const changes: Partial<OrganisationRow> = {};
  if (profile.displayName !== undefined) changes.displayName = parseDisplayName(profile.displayName);
  if (profile.description !== undefined) changes.description = parseOrganisationDescription(profile.description);
  if (Object.keys(changes).length === 0) return;
  await room.db.write(async ({ manager }) => {
    await refuseUnlessOwner(manager, viewer, id);
    await manager.update(organisationSchema, { id }, changes);
  });
  room.logger.info('organisation.edited', { organisationId: id, by: viewerForLog(viewer) });
}

/**
 * Gives an organisation another name. The old one leads to the new and stays
 * reserved: a stranger who got it could pass for the organisation.
 * Refuses `organisation_not_found` to everyone but an OWNER; the rules of handles and
 * `handle_taken`, with the field `name`.
 */
export async function renameOrganisation(
  room: OrganisationDeps,
  viewer: Viewer,
  name: string,
  newName: string,
): Promise<Organisation> {
  const organisation = await findManaged(room, viewer, name);
  const { id } = organisation;
  const { display } = await room.db.write(async (tx) => {
    await refuseUnlessOwner(tx.manager, viewer, id);
    const handle = await room.owners.rename(tx, { handle: newName, kind: 'organisation', ownerId: id, field: 'name' });
    await tx.manager.update(organisationSchema, { id }, { name: handle.display });
    return handle;
  });
  room.logger.info('organisation.renamed', {
    organisationId: id,
    before: organisation.name,
    name: display,
    by: viewerForLog(viewer),
  });
  return { ...organisation, name: display };
}

/** Refuses `organisation_not_found` to everyone but an OWNER; the rules of images. */
export async function replaceAvatar(
  room: OrganisationDeps,
  viewer: Viewer,
  name: string,
  upload: ImageUpload,
): Promise<AvatarRow> {
  const { id } = await findManaged(room, viewer, name);
  const avatar = await room.avatars.replace(id, upload);
  room.logger.info('organisation.avatar_replaced', { organisationId: id, by: viewerForLog(viewer) });
  return avatar;
}

/** Refuses `organisation_not_found` to everyone but an OWNER. There may be no avatar. */
export async function removeAvatar(room: OrganisationDeps, viewer: Viewer, name: string): Promise<void> {
  const { id } = await findManaged(room, viewer, name);
  await room.avatars.remove(id);
  room.logger.info('organisation.avatar_removed', { organisationId: id, by: viewerForLog(viewer) });
}
