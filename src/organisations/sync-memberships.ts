import type { OrganisationRole } from '../access/index.ts';
import type { Tx } from '../db/index.ts';
import { isDomainError, nullIfNotFound } from '../kernel/index.ts';
import { findOrganisation } from './find-organisation.ts';
import { refuseLastOwner } from './last-owner.ts';
import { memberSchema } from './member-schema.ts';
import { leaveTeamsOf } from './teams/change-team.ts';
import type { OrganisationDeps } from './deps.ts';

/** A membership given by a provider's group. */
interface MappedMembership {
  /** Name of an organisation; a missing one is ignored. */
  organisation: string;
  role: OrganisationRole;
}

type Change =
  | { kind: 'added' | 'changed'; organisationId: string; role: OrganisationRole }
  | { kind: 'removed' | 'kept'; organisationId: string };

const ranks: Readonly<Record<OrganisationRole, number>> = { GUEST: 0, MEMBER: 1, OWNER: 2 };

const events: Readonly<Record<Change['kind'], string>> = {
  added: 'organisation.member_added',
  changed: 'organisation.role_changed',
  removed: 'organisation.member_removed',
  kept: 'organisation.member_kept',
};

/**
 * Updates a user's memberships to those given by a provider's groups. Only changes or removes memberships that an
 * earlier call for this provider created, not those created by users or other providers. Skips and logs a change that
 * would leave an organisation without an OWNER.
 *
 * @param source the issuer of the provider
 * @param wanted of several for one organisation, the highest role counts
 */
export async function syncMemberships(
  deps: OrganisationDeps,
  personId: string,
  source: string,
  wanted: readonly MappedMembership[],
): Promise<void> {
  const roles = await rolesByOrganisation(deps, wanted);
  const changes = await deps.db.write(async (tx) => {
    const rows = await tx.manager.findBy(memberSchema, { userId: personId });
    const done: Change[] = [];
    for (const [organisationId, role] of roles) {
      const at = { organisationId, userId: personId };
      const row = rows.find((each) => each.organisationId === organisationId);
      if (row === undefined) {
        await tx.manager.insert(memberSchema, { ...at, role, createdAt: tx.now, mappedBy: source, isPublic: false });
        done.push({ kind: 'added', organisationId, role });
      } else if (row.mappedBy === source && row.role !== role) {
        const isKept = row.role === 'OWNER' && (await isLastOwner(tx, at));
        if (!isKept) await tx.manager.update(memberSchema, at, { role });
        done.push(isKept ? { kind: 'kept', organisationId } : { kind: 'changed', organisationId, role });
      }
    }
    for (const { organisationId, role, mappedBy } of rows) {
      if (mappedBy !== source || roles.has(organisationId)) continue;
      const at = { organisationId, userId: personId };
      const isKept = role === 'OWNER' && (await isLastOwner(tx, at));
      if (!isKept) {
        await tx.manager.delete(memberSchema, at);
        await leaveTeamsOf(tx.manager, at);
      }
      done.push({ kind: isKept ? 'kept' : 'removed', organisationId });
    }
    return done;
  });
  for (const { kind, ...change } of changes)
    deps.logger.info(events[kind], { ...change, userId: personId, source, by: 'server' });
}

async function rolesByOrganisation(
  deps: OrganisationDeps,
  wanted: readonly MappedMembership[],
): Promise<Map<string, OrganisationRole>> {
  const roles = new Map<string, OrganisationRole>();
  for (const { organisation, role } of wanted) {
    const found = await findOrganisation(deps, organisation).catch(nullIfNotFound);
    if (found === null) {
      deps.logger.warn('organisation.mapping_unknown', { organisation, source: 'groups' });
      continue;
    }
    const known = roles.get(found.id);
    if (known === undefined || ranks[role] > ranks[known]) roles.set(found.id, role);
  }
  return roles;
}

async function isLastOwner(tx: Tx, { organisationId, userId }: { organisationId: string; userId: string }) {
  try {
    await refuseLastOwner(tx, organisationId, userId);
    return false;
  } catch (error) {
    if (isDomainError(error) && error.reason === 'last_owner') return true;
    throw error;
  }
}
