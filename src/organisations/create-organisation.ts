import { isLocalAdministrator, scopeAllows, viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { parseWebsite } from '../accounts/index.ts';
import { forbidden, internal, unauthenticated } from '../kernel/index.ts';
import { nextOwnerId } from '../owners/index.ts';
import { memberSchema } from './member-schema.ts';
import { parseDisplayName, parseOrganisationDescription, toOrganisation } from './organisation.ts';
import type { Organisation } from './organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationRow } from './organisation-schema.ts';
import { personToAdd } from './add-member.ts';
import type { OrganisationDeps } from './deps.ts';

interface NewOrganisation {
  name: string;
  displayName?: string;
  description?: string;
  website?: string;
  /** Handle of the first OWNER, for the command line; other callers become OWNER themselves. */
  owner?: string;
  /** For administrators: allows the name of a deleted owner. */
  takesDeleted?: boolean;
}

/**
 * Creates an organisation with one OWNER. Any user with a handle may (SPEC §4.4). Inserts name and organisation in one
 * transaction, so that exactly one of several concurrent claims on a name, by users or organisations, succeeds.
 *
 * Throws `unauthenticated`; `onboarding_required`; `insufficient_scope`; the rules of handles and `handle_taken`, with
 * the field `name`; `invalid_text`, `text_too_long`, `invalid_website`; `no_such_person` for `owner`.
 */
export async function createOrganisation(
  deps: OrganisationDeps,
  viewer: Viewer,
  input: NewOrganisation,
): Promise<Organisation> {
  const firstOwnerId = await resolveFirstOwner(deps, viewer, input.owner);
  const { takesDeleted = false } = input;
  const displayName = parseDisplayName(input.displayName ?? '');
  const description = parseOrganisationDescription(input.description ?? '');
  const website = parseWebsite(input.website ?? '');

  const organisation = await deps.db.write(async (tx) => {
    const id = await nextOwnerId(tx, deps.random);
    const { display: name } = await deps.owners.claim(tx, {
      handle: input.name,
      kind: 'organisation',
      ownerId: id,
      field: 'name',
      claimantId: firstOwnerId,
      takesDeleted,
    });
    const row: OrganisationRow = { id, name, displayName, description, website, createdAt: tx.now };
    await tx.manager.insert(organisationSchema, row);
    await tx.manager.insert(memberSchema, {
      organisationId: id,
      userId: firstOwnerId,
      role: 'OWNER',
      createdAt: tx.now,
      isPublic: false,
    });
    return toOrganisation(row);
  });
  deps.logger.info('organisation.created', {
    organisationId: organisation.id,
    name: organisation.name,
    by: viewerForLog(viewer),
  });
  return organisation;
}

async function resolveFirstOwner(deps: OrganisationDeps, viewer: Viewer, owner: string | undefined): Promise<string> {
  if (viewer.kind !== 'person') throw unauthenticated('sign_in_required', 'Sign in to create an organisation.');
  if (isLocalAdministrator(viewer)) {
    if (owner === undefined) throw internal('the command line names the first owner');
    return (await personToAdd(deps, owner, 'owner')).id;
  }
  if (viewer.username === null) throw forbidden('onboarding_required', 'Choose a username first.');
  if (!scopeAllows(viewer, 'write') || viewer.repositoryIds !== null) {
    throw forbidden('insufficient_scope', 'This token cannot create organisations.');
  }
  return viewer.id;
}
