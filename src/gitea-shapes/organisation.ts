import type { z } from 'zod';
import type { Organisation } from '../organisations/index.ts';
import { numericId } from './numeric-id.ts';
import type { organisation } from './organisation-schema.ts';
import type { ServerPlace } from './place.ts';
import { giteaTime } from './time.ts';

export type OrganisationPayload = z.output<typeof organisation>;

/**
 * @param members number of its members
 */
export function organisationPayload(
  { id, name, displayName, description, website, createdAt }: Organisation,
  members: number,
  { baseUrl }: Pick<ServerPlace, 'baseUrl'>,
): OrganisationPayload {
  const base = baseUrl ?? '';
  return {
    id: numericId(id),
    name,
    full_name: displayName,
    email: '',
    avatar_url: `${base}/avatars/${id}.svg`,
    description,
    website,
    location: '',
    visibility: 'public',
    repo_admin_change_team_access: false,
    username: name,
    displayName,
    members,
    createdAt: giteaTime(createdAt),
    url: `${base}/orgs/${name}`,
  };
}
