import type { Viewer } from '../access/index.ts';
import { scopeAllows } from '../access/index.ts';
import type { Person } from '../accounts/index.ts';
import { forbidden } from '../kernel/index.ts';
import { findOrganisation, insufficientScope } from './find-organisation.ts';
import { memberNotFound } from './change-member.ts';
import { memberSchema } from './member-schema.ts';
import type { OrganisationDeps } from './deps.ts';

const mostShown = 1_000;

/**
 * Makes the viewer's membership public, or hides it. Throws `member_not_found` unless the viewer is a member,
 * `not_yourself` for another user, `insufficient_scope`.
 */
export async function setMembershipPublic(
  deps: OrganisationDeps,
  viewer: Viewer,
  name: string,
  { username, isPublic }: { username: string; isPublic: boolean },
): Promise<void> {
  const { id: organisationId } = await findOrganisation(deps, name);
  if (viewer.kind !== 'person') throw memberNotFound();
  const member = { organisationId, userId: viewer.id };
  if (!(await deps.db.read.existsBy(memberSchema, member))) throw memberNotFound();
  if ((await deps.owners.resolve(username))?.id !== viewer.id)
    throw forbidden('not_yourself', 'You can only change the visibility of your own membership.');
  if (!scopeAllows(viewer, 'write')) throw insufficientScope();
  await deps.db.write(async ({ manager }) => {
    const { affected } = await manager.update(memberSchema, member, { isPublic });
    if (affected !== 1) throw memberNotFound();
  });
}

/** Members with a public membership, sorted by handle. Throws `organisation_not_found`. */
export async function listPublicMembers(deps: OrganisationDeps, name: string): Promise<Person[]> {
  const { id: organisationId } = await findOrganisation(deps, name);
  const rows = await deps.db.read.find(memberSchema, {
    where: { organisationId, isPublic: true },
    order: { userId: 'ASC' },
    take: mostShown,
  });
  const people = await deps.accounts.peopleById(rows.map(({ userId }) => userId));
  const key = ({ username }: Person) => (username ?? '').toLowerCase();
  return [...people.values()].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}
