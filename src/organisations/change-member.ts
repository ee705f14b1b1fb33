import { viewerForLog } from '../access/index.ts';
import type { OrganisationRole, Viewer } from '../access/index.ts';
import type { Tx } from '../db/index.ts';
import { notFound } from '../kernel/index.ts';
import { findManaged, findOrganisation, insufficientScope, mayManage, refuseUnlessOwner } from './find-organisation.ts';
import { refuseLastOwner } from './last-owner.ts';
import { memberSchema } from './member-schema.ts';
import { leaveTeamsOf } from './teams/change-team.ts';
import { organisationNotFound, parseRole } from './organisation.ts';
import type { OrganisationDeps } from './deps.ts';

interface MemberOf {
  organisationId: string;
  userId: string;
}

export const memberNotFound = () => notFound('member_not_found', 'There is no such member.');

/**
 * Changes a member's role; setting the current role has no effect. Throws `organisation_not_found` for everyone but an
 * OWNER; `invalid_role`; `member_not_found`; `last_owner`.
 */
export async function changeMemberRole(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  change: { username: string; role: string },
): Promise<void> {
  const role = parseRole(change.role);
  const at = await memberToChange(deps, viewer, name, change.username);
  const before = await deps.db.write(async (tx) => {
    await refuseUnlessOwner(tx.manager, viewer, at.organisationId);
    const before = await currentRole(tx, at);
    if (before === 'OWNER' && role !== 'OWNER') await refuseLastOwner(tx, at.organisationId, at.userId);
    await tx.manager.update(memberSchema, { ...at }, { role });
    return before;
  });
  if (before !== role) deps.logger.info('organisation.role_changed', { ...at, before, role, by: viewerForLog(viewer) });
}

/**
 * Removes a member, also from the organisation's teams. Throws `organisation_not_found` for everyone but an OWNER;
 * `member_not_found`; `last_owner`.
 */
export async function removeMember(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  username: string,
): Promise<void> {
  const at = await memberToChange(deps, viewer, name, username);
  await deps.db.write(async (tx) => {
    await refuseUnlessOwner(tx.manager, viewer, at.organisationId);
    await endMembership(tx, at);
  });
  deps.logger.info('organisation.member_removed', { ...at, by: viewerForLog(viewer) });
}

/**
 * Ends the viewer's own membership. Throws `organisation_not_found` unless the viewer is a member;
 * `insufficient_scope`; `last_owner`.
 */
export async function leaveOrganisation(deps: OrganisationDeps, viewer: Viewer, name: string): Promise<void> {
  const organisation = await findOrganisation(deps, name);
  if (viewer.kind !== 'person') throw organisationNotFound();
  const at = { organisationId: organisation.id, userId: viewer.id };
  if (!(await deps.db.read.existsBy(memberSchema, at))) throw organisationNotFound();
  if (!mayManage(viewer)) throw insufficientScope();
  await deps.db.write((tx) => endMembership(tx, at));
  deps.logger.info('organisation.member_left', at);
}

async function memberToChange(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  username: string,
): Promise<MemberOf> {
  const organisation = await findManaged(deps, viewer, name);
  const owner = await deps.owners.resolve(username);
  if (owner?.kind !== 'user') throw memberNotFound();
  return { organisationId: organisation.id, userId: owner.id };
}

async function endMembership(tx: Tx, at: MemberOf): Promise<void> {
  if ((await currentRole(tx, at)) === 'OWNER') await refuseLastOwner(tx, at.organisationId, at.userId);
  await tx.manager.delete(memberSchema, { ...at });
  await leaveTeamsOf(tx.manager, at);
}

async function currentRole({ manager }: Tx, at: MemberOf): Promise<OrganisationRole> {
  const member = await manager.findOneBy(memberSchema, { ...at });
  if (member === null) throw memberNotFound();
  return member.role;
}
