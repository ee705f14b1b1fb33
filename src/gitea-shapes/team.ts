import type { z } from 'zod';
import type { Team } from '../organisations/index.ts';
import type { OrganisationPayload } from './organisation.ts';
import type { team } from './team-schema.ts';

type TeamPayload = z.output<typeof team>;

/** Gitea's names of the units of a repository; a role of a team covers all of them. */
const units = ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases', 'repo.actions'];

/**
 * @param organization null if it owns the shown repository
 */
export const teamPayload = (
  { serial, name, description, role }: Pick<Team, 'serial' | 'name' | 'description' | 'role'>,
  organization: OrganisationPayload | null = null,
): TeamPayload => ({
  id: serial,
  name,
  description,
  organization,
  includes_all_repositories: false,
  permission: role,
  units: [...units],
  units_map: Object.fromEntries(units.map((unit) => [unit, role])),
  can_create_org_repo: false,
});
