import { z } from 'zod';
import { collaboratorRoles } from '../../access/index.ts';
import { organisation } from './schemas.ts';

export const permission = z.enum(collaboratorRoles).describe('The role of a repository that is added without one');

/** A team, as Gitea shows one. */
export const team = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    description: z.string(),
    organization: organisation.nullable(),
    permission,
    includes_all_repositories: z.literal(false).describe('A team has the repositories that are added to it'),
    can_create_org_repo: z.literal(false).describe('Members of the organisation create repositories'),
  })
  .meta({ id: 'Team' });
