import { isLocalAdministrator, personIdOf, viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { AccessPlace, Accounts, Person } from '../accounts/index.ts';
import type { Tx } from '../db/index.ts';
import { conflict, invalid, isDomainError } from '../kernel/index.ts';
import { findManaged, refuseUnlessOwner } from './find-organisation.ts';
import { memberSchema } from './member-schema.ts';
import { parseRole } from './organisation.ts';
import type { OrganisationDeps } from './deps.ts';

interface NewMember {
  username: string;
  /** GUEST, MEMBER or OWNER, ignoring case. */
  role: string;
}

/**
 * Adds a member. Throws `organisation_not_found` for everyone but an OWNER; `invalid_role`; `no_such_person`, also for
 * users without a handle; `person_disabled`; `already_member`.
 */
export async function addMember(deps: OrganisationDeps, viewer: Viewer, name: string, input: NewMember): Promise<void> {
  const organisation = await findManaged(deps, viewer, name);
  const role = parseRole(input.role);
  const { id: userId, username } = await personToAdd(deps, input.username);
  const at = { organisationId: organisation.id, userId };
  await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    await refuseUnlessOwner(manager, viewer, organisation.id);
    if (await manager.existsBy(memberSchema, at)) {
      throw conflict('already_member', `${username} is already a member.`, { field: 'username' });
    }
    await manager.insert(memberSchema, { ...at, role, createdAt: now, isPublic: false });
    const place = { kind: 'organisation' as const, id: organisation.id, name: organisation.name };
    await announceAccess(deps, tx, viewer, { userId, place, role });
  });
  deps.logger.info('organisation.member_added', { ...at, role, by: viewerForLog(viewer) });
}

/** The user who gets a role, by handle. Throws `no_such_person`, `person_disabled`. */
export async function personToAdd(
  { accounts }: { accounts: Pick<OrganisationDeps['accounts'], 'personByUsername'> },
  username: string,
  field = 'username',
): Promise<Person> {
  const person = await accounts.personByUsername(username.trim()).catch((error: unknown) => {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    throw invalid('no_such_person', 'No user has this username.', { field });
  });
  if (person.disabledAt !== null)
    throw invalid('person_disabled', `The account ${person.username} is disabled.`, { field });
  return person;
}

/** Announces, inside the transaction, that a user was given access by another one. */
export async function announceAccess(
  { accounts }: { accounts: Pick<Accounts, 'announceSecurityEvent'> },
  tx: Tx,
  viewer: Viewer,
  { userId, place, role }: { userId: string; place: AccessPlace; role: string | null },
): Promise<void> {
  if (personIdOf(viewer) === userId) return;
  const by =
    viewer.kind === 'person' && !isLocalAdministrator(viewer) && viewer.username !== null
      ? { id: viewer.id, username: viewer.username }
      : null;
  await accounts.announceSecurityEvent(tx, userId, { kind: 'access_given', place, role, by });
}
