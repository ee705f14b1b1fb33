import { z } from 'zod';

const time = z.iso.datetime().describe('ISO 8601, UTC');

/** An organisation in Gitea's form, with fields of our own at the end. */
export const organisation = z
  .strictObject({
    id: z.int(),
    name: z.string().describe('The handle'),
    full_name: z.string(),
    email: z.string().describe('Always empty'),
    avatar_url: z.string(),
    description: z.string(),
    website: z.string().describe('Always empty'),
    location: z.string().describe('Always empty'),
    visibility: z.literal('public').describe('Organisations are public'),
    repo_admin_change_team_access: z.boolean().describe('Always false: OWNERs give repositories to teams'),
    username: z.string().describe('The handle'),
    displayName: z.string(),
    members: z.int().describe('How many people belong to it'),
    createdAt: time,
    url: z.string().describe('The page of the organisation'),
  })
  .meta({ id: 'Organization' });
