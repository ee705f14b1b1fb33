import { z } from 'zod';
import { deploymentStates } from '../ci/index.ts';
import { giteaUser } from './user-schema.ts';

const time = z.iso.datetime();
const state = z.enum(deploymentStates);

/** A deployment in GitHub's form. */
export const deployment = z
  .strictObject({
    id: z.int(),
    url: z.string(),
    sha: z.string(),
    ref: z.string(),
    task: z.string(),
    payload: z.unknown(),
    original_environment: z.string(),
    environment: z.string(),
    description: z.string(),
    state: state.describe('State of the newest status'),
    creator: giteaUser.nullable(),
    transient_environment: z.boolean(),
    production_environment: z.boolean(),
    statuses_url: z.string(),
    repository_url: z.string(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Deployment' });

export const deploymentStatus = z
  .strictObject({
    id: z.int(),
    url: z.string(),
    state,
    description: z.string(),
    environment: z.string(),
    environment_url: z.string().describe('URL of the environment; empty if none'),
    target_url: z.string(),
    log_url: z.string(),
    creator: giteaUser.nullable().describe('Null for this server’s CI'),
    deployment_url: z.string(),
    repository_url: z.string(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'DeploymentStatus' });
