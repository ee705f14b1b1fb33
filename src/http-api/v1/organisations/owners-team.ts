import type { z } from 'zod';
import type { PersonViewer } from '../../../access/index.ts';
import { numericId, teamPayload } from '../../../gitea-shapes/index.ts';
import type { team } from '../../../gitea-shapes/schemas.ts';
import type { WebDeps } from '../../../web/index.ts';
import { onReason } from '../../../kernel/index.ts';
import { teamNotFound } from '../../../organisations/index.ts';
import type { Organisation } from '../../../organisations/index.ts';
import { showOrganisation } from '../shapes/payloads.ts';

/**
 * Gitea stores OWNERs as a team of every organisation; here they are a role, and this shows the role as that team. Its
 * id is that of the organisation. Teams count from 1 and organisations share their ids with users, so teams are looked
 * up first.
 */
const name = 'Owners';
const offset = 2 ** 48;

interface Place {
  viewer: PersonViewer;
  deps: WebDeps;
  origin: string;
}

export const isOwnersTeam = (text: string): boolean => text.toLowerCase() === name.toLowerCase();

/** The team of an organisation. */
export async function showOwnersTeam(
  organisation: Organisation,
  { deps, origin }: Pick<Place, 'deps' | 'origin'>,
): Promise<z.output<typeof team>> {
  const members = await deps.organisations.memberCount(organisation.id);
  const shown = teamPayload(
    {
      serial: offset + numericId(organisation.id),
      name,
      description: 'Users who manage the organisation',
      role: 'admin',
    },
    showOrganisation(organisation, members, { origin }),
  );
  return {
    ...shown,
    includes_all_repositories: true,
    permission: 'owner',
    units_map: Object.fromEntries(shown.units.map((unit) => [unit, 'owner'])),
    can_create_org_repo: true,
  };
}

/** The organisation whose OWNERs have this id; null for any other team. */
export async function organisationOfOwners({ viewer, deps }: Place, id: string): Promise<Organisation | null> {
  const number = /^\d{15,17}$/.test(id) ? Number(id) - offset : -1;
  const found = number < 0 ? null : await deps.organisations.byNumber(number);
  if (found === null) return null;
  // Like a team, visible to members of the organisation.
  if ((await deps.organisations.roleOf(viewer.id, found.id)) === null) throw teamNotFound();
  return found;
}

/** The OWNERs; visible to OWNERs. */
export async function listOwners({ viewer, deps }: Place, { name: of }: Organisation) {
  const members = await deps.organisations.listMembers(viewer, of);
  return members.filter(({ role }) => role === 'OWNER');
}

/** Makes a user, who may already be a member, an OWNER. */
export async function addOwner({ viewer, deps }: Place, { name: of }: Organisation, username: string): Promise<void> {
  const { addMember, changeMemberRole } = deps.organisations;
  const change = { username, role: 'OWNER' } as const;
  await addMember(viewer, of, change).catch(onReason('already_member', () => changeMemberRole(viewer, of, change)));
}
