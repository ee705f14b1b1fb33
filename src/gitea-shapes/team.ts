import type { Team } from '../organisations/index.ts';

/** A team in Gitea's form, without the organisation: it is the owner of the repository. */
export type TeamPayload = {
  id: number;
  name: string;
  description: string;
  organization: null;
  permission: Team['role'];
  includes_all_repositories: false;
  can_create_org_repo: false;
};

export const teamPayload = ({ serial, name, description, role }: Team): TeamPayload => ({
  id: serial,
  name,
  description,
  organization: null,
  permission: role,
  includes_all_repositories: false,
  can_create_org_repo: false,
});
