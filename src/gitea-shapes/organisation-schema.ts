import { z } from 'zod';

const time = z.iso.datetime().describe('ISO 8601, UTC');

/** An organisation in Gitea's form, with fields of our own at the end. */
export const organisation = z
  .strictObject({
    id: z.int(),
    name: z.string().describe('Username of the organisation'),
    full_name: z.string(),
    email: z.string().describe('Always empty'),
    avatar_url: z.string(),
    description: z.string(),
    website: z.string().describe('Always empty'),
    location: z.string().describe('Always empty'),
    visibility: z.literal('public').describe('Organisations are public'),
    repo_admin_change_team_access: z.boolean().describe('Always false: only OWNERs give teams access to repositories'),
    username: z.string().describe('Username of the organisation'),
    displayName: z.string(),
    members: z.int().describe('Number of members'),
    createdAt: time,
    url: z.string().describe('URL of the organisation’s page'),
  })
  .meta({ id: 'Organization' });
