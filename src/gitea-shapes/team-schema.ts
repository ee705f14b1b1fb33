import { z } from 'zod';
import { collaboratorRoles } from '../access/index.ts';
import { organisation } from './organisation-schema.ts';

export const permission = z.enum(collaboratorRoles).describe('Default role in repositories that are added without one');

/** A team, as Gitea shows one. */
export const team = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    description: z.string(),
    organization: organisation.nullable(),
    includes_all_repositories: z
      .boolean()
      .describe('True for the team Owners only; other teams have the repositories added to them'),
    permission: z.enum([...collaboratorRoles, 'owner']),
    units: z.array(z.string()).describe('A role covers all units of a repository'),
    units_map: z.record(z.string(), z.string()),
    can_create_org_repo: z
      .boolean()
      .describe('True for the team Owners only; members of the organisation can also create repositories'),
  })
  .meta({ id: 'Team' });
