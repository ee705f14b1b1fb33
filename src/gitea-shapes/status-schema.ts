import { z } from 'zod';
import { giteaRepository } from './repository-schema.ts';
import { giteaUser } from './user-schema.ts';

const time = z.iso.datetime().describe('ISO 8601, UTC');
const state = z.enum(['pending', 'success', 'failure', 'error', 'warning']);

/** A commit status in Gitea's form, with fields of our own at the end. */
export const commitStatus = z
  .strictObject({
    id: z.int(),
    status: state,
    target_url: z.string().describe('URL with details; empty if none'),
    description: z.string(),
    url: z.string(),
    context: z.string().describe('Name of the check that reported it'),
    creator: giteaUser.nullable().describe('User who reported it; null for this server’s CI'),
    created_at: time,
    updated_at: time,
    state,
    targetUrl: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'CommitStatus' });

export const combinedStatus = z
  .strictObject({
    state: state.or(z.literal('')).describe('Combined state of all checks; empty if there are none'),
    sha: z.string(),
    total_count: z.int(),
    statuses: z.array(commitStatus),
    repository: giteaRepository,
    commit_url: z.string(),
    url: z.string(),
    commit: z.string().describe('Alias of sha'),
  })
  .meta({ id: 'CombinedStatus' });
