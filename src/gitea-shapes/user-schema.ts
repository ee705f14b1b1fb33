import { z } from 'zod';

const time = z.iso.datetime().describe('ISO 8601, UTC');

/** A user in Gitea's form; also used for an organisation that owns a repository. */
export const giteaUser = z
  .strictObject({
    id: z.int().describe('Derived from the UUID; -1 for an author without an account on this server'),
    login: z.string(),
    login_name: z.string().describe('Always empty'),
    source_id: z.int().describe('Always 0'),
    full_name: z.string(),
    email: z.string().describe('Empty if the caller cannot see it'),
    avatar_url: z.string(),
    html_url: z.string(),
    language: z.string().describe('Always empty'),
    is_admin: z.boolean().describe('Visible only to the user and to administrators'),
    last_login: time.describe('Visible only to the user and to administrators; year 1 for all others'),
    created: time,
    restricted: z.boolean().describe('Always false'),
    active: z.boolean().describe('Visible only to the user and to administrators'),
    prohibit_login: z.boolean().describe('Visible only to the user and to administrators'),
    location: z.string().describe('Always empty'),
    website: z.string(),
    description: z.string(),
    visibility: z.literal('public').describe('Users and organisations are public'),
    followers_count: z.int(),
    following_count: z.int(),
    starred_repos_count: z.int(),
    username: z.string(),
  })
  .meta({ id: 'User' });
