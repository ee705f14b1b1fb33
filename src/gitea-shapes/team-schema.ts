import { z } from 'zod';
import { collaboratorRoles } from '../access/index.ts';
import { organisation } from './organisation-schema.ts';

export const permission = z.enum(collaboratorRoles).describe('The role of a repository that is added without one');

/** A team, as Gitea shows one. */
export const team = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    description: z.string(),
    organization: organisation.nullable(),
    includes_all_repositories: z.boolean().describe('Of the OWNERs; a team has the repositories that are added to it'),
    permission: z.enum([...collaboratorRoles, 'owner']),
    units: z.array(z.string()).describe('A role covers all parts of a repository'),
    units_map: z.record(z.string(), z.string()),
    can_create_org_repo: z.boolean().describe('Of the OWNERs; members of the organisation create repositories, too'),
  })
  .meta({ id: 'Team' });
