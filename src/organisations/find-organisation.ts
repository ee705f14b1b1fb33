import { And, In, LessThan, MoreThanOrEqual } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { isLocalAdministrator, scopeAllows } from '../access/index.ts';
import type { OrganisationRole, PersonViewer, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource } from '../db/index.ts';
import { forbidden } from '../kernel/index.ts';
import { memberSchema } from './member-schema.ts';
import { organisationNotFound, toOrganisation } from './organisation.ts';
import type { Organisation } from './organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationDeps } from './deps.ts';

/**
 * Finds an organisation by name, ignoring case. Organisations are public (SPEC §4.4). Throws `organisation_not_found`.
 */
export async function findOrganisation({ db, owners }: OrganisationDeps, name: string): Promise<Organisation> {
  const owner = await owners.resolve(name);
  const row = owner?.kind === 'organisation' ? await db.read.findOneBy(organisationSchema, { id: owner.id }) : null;
  if (row === null) throw organisationNotFound();
  return toOrganisation(row);
}

/** Organisations are public. */
export async function organisationsById(
  { db }: Pick<OrganisationDeps, 'db'>,
  ids: Iterable<string>,
): Promise<Map<string, Organisation>> {
  const rows = await db.read.findBy(organisationSchema, { id: In([...ids]) });
  return new Map(rows.map((row) => [row.id, toOrganisation(row)]));
}

/**
 * The organisation whose id begins with an integer of at most 48 bits, the id that Gitea's clients use; null if there
 * is none.
 */
export async function organisationByNumber(
  { db }: Pick<OrganisationDeps, 'db'>,
  number: number,
): Promise<Organisation | null> {
  if (!Number.isSafeInteger(number) || number < 0 || number >= 2 ** 48) return null;
  const hex = number.toString(16).padStart(12, '0');
  const start = `${hex.slice(0, 8)}-${hex.slice(8)}`;
  const row = await db.read.findOne(organisationSchema, {
    where: { id: And(MoreThanOrEqual(`${start}-`), LessThan(`${start}.`)) },
    order: { id: 'ASC' },
  });
  return row === null ? null : toOrganisation(row);
}

/** A user's role in an organisation; `null` if they are not a member. */
export async function roleOf(
  source: RowSource,
  personId: string,
  organisationId: string,
): Promise<OrganisationRole | null> {
  const member = await rowBy(source, memberSchema, { organisationId, userId: personId });
  return member?.role ?? null;
}

/**
 * Finds an organisation that the viewer may manage: as its OWNER, or from the command line. Throws
 * `organisation_not_found` for all others, including members (SPEC §5); `insufficient_scope` for an OWNER's token
 * without the scope.
 */
export async function findManaged(deps: OrganisationDeps, viewer: Viewer, name: string): Promise<Organisation> {
  const organisation = await findOrganisation(deps, name);
  await refuseUnlessOwner(deps.db.read, viewer, organisation.id);
  return organisation;
}

/** Checked again inside a transaction: an OWNER may have lost the role since. */
export async function refuseUnlessOwner(manager: EntityManager, viewer: Viewer, organisationId: string): Promise<void> {
  if (isLocalAdministrator(viewer)) return;
  if (viewer.kind !== 'person') throw organisationNotFound();
  if ((await roleOf(manager, viewer.id, organisationId)) !== 'OWNER') throw organisationNotFound();
  if (!mayManage(viewer)) throw insufficientScope();
}

/** Whether a user's credential may manage organisations; a session may. */
export function mayManage(viewer: PersonViewer): boolean {
  return scopeAllows(viewer, 'admin') && viewer.repositoryIds === null;
}

export const insufficientScope = () => forbidden('insufficient_scope', 'This token cannot manage organisations.');
