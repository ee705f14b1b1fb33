import type { Viewer } from '../access/index.ts';
import type { Invite, InviteJoins, NewInvite } from '../accounts/index.ts';
import type { Tx } from '../db/index.ts';
import { findManaged, roleOf } from './find-organisation.ts';
import { memberSchema } from './member-schema.ts';
import { parseRole } from './organisation.ts';
import type { OrganisationDeps } from './deps.ts';

interface NewMemberInvite extends Omit<NewInvite, 'joins'> {
  /** GUEST, MEMBER or OWNER, ignoring case. */
  role: string;
}

/**
 * Invites a person who becomes a member at sign-up. Throws `organisation_not_found` for everyone but an OWNER;
 * `invalid_role`; and what `addInvite` throws: only an administrator may invite new users.
 */
export async function inviteMember(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  { role, ...invite }: NewMemberInvite,
): Promise<{ invite: Invite; secret: string }> {
  const organisation = await findManaged(deps, viewer, name);
  const joins = { organisationId: organisation.id, role: parseRole(role) };
  return deps.accounts.addInvite(viewer.kind === 'person' ? viewer.id : null, { ...invite, joins });
}

/**
 * Makes the user who accepted an invitation a member. Does nothing if the organisation is gone, or the inviter is no
 * longer its OWNER.
 */
export async function joinInvited(
  { logger }: OrganisationDeps,
  { manager, now }: Tx,
  personId: string,
  { organisationId, role, invitedBy }: InviteJoins,
): Promise<void> {
  if (invitedBy !== null && (await roleOf(manager, invitedBy, organisationId)) !== 'OWNER') return;
  const at = { organisationId, userId: personId };
  await manager.insert(memberSchema, { ...at, role: parseRole(role), createdAt: now, isPublic: false });
  logger.info('organisation.member_added', { ...at, role, by: invitedBy ?? 'local' });
}
