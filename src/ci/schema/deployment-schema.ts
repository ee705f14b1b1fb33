import { EntitySchema } from 'typeorm';

/** States of a deployment, with GitHub's names; `waiting` for a reviewer or a time. */
export const deploymentStates = [
  'waiting',
  'queued',
  'in_progress',
  'pending',
  'success',
  'failure',
  'error',
  'inactive',
] as const;
export type DeploymentState = (typeof deploymentStates)[number];

/** A row of `ci_deployments`: a commit on its way to an environment. */
export interface DeploymentRow {
  id: number;
  repositoryId: string;
  /** Null once the environment is deleted. */
  environmentId: number | null;
  environment: string;
  /** The run and the job that deploy; null for a deployment created through the API. */
  runId: number | null;
  jobId: number | null;
  ref: string;
  sha: string;
  task: string;
  description: string;
  payload: unknown;
  /** Whether the environment removes itself. */
  isTransient: boolean;
  isProduction: boolean;
  creatorId: string | null;
  /** State of the newest status. */
  state: DeploymentState;
  url: string | null;
  createdAt: number;
  updatedAt: number;
}

/** A row of `ci_deployment_statuses`. */
export interface DeploymentStatusRow {
  id: number;
  deploymentId: number;
  state: DeploymentState;
  description: string;
  url: string | null;
  logUrl: string | null;
  creatorId: string | null;
  createdAt: number;
}

/** A row of `ci_deployment_reviews`: one decision about one job. */
export interface DeploymentReviewRow {
  id: number;
  runId: number;
  jobId: number;
  environmentId: number | null;
  environment: string;
  /** Null for the command line, and once the account is deleted. */
  reviewerId: string | null;
  verdict: 'approved' | 'rejected';
  /** Made by an administrator who is not a reviewer. */
  isBypass: boolean;
  comment: string;
  createdAt: number;
}

export const deploymentSchema = new EntitySchema<DeploymentRow>({
  name: 'ciDeployment',
  tableName: 'ci_deployments',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    repositoryId: { name: 'repository_id', type: 'text' },
    environmentId: { name: 'environment_id', type: 'integer', nullable: true },
    environment: { type: 'text' },
    runId: { name: 'run_id', type: 'integer', nullable: true },
    jobId: { name: 'job_id', type: 'integer', nullable: true },
    ref: { type: 'text' },
    sha: { type: 'text' },
    task: { type: 'text' },
    description: { type: 'text' },
    payload: { type: 'simple-json' },
    isTransient: { name: 'is_transient', type: 'boolean' },
    isProduction: { name: 'is_production', type: 'boolean' },
    creatorId: { name: 'creator_id', type: 'text', nullable: true },
    state: { type: 'text' },
    url: { type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

export const deploymentStatusSchema = new EntitySchema<DeploymentStatusRow>({
  name: 'ciDeploymentStatus',
  tableName: 'ci_deployment_statuses',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    deploymentId: { name: 'deployment_id', type: 'integer' },
    state: { type: 'text' },
    description: { type: 'text' },
    url: { type: 'text', nullable: true },
    logUrl: { name: 'log_url', type: 'text', nullable: true },
    creatorId: { name: 'creator_id', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

export const deploymentReviewSchema = new EntitySchema<DeploymentReviewRow>({
  name: 'ciDeploymentReview',
  tableName: 'ci_deployment_reviews',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    runId: { name: 'run_id', type: 'integer' },
    jobId: { name: 'job_id', type: 'integer' },
    environmentId: { name: 'environment_id', type: 'integer', nullable: true },
    environment: { type: 'text' },
    reviewerId: { name: 'reviewer_id', type: 'text', nullable: true },
    verdict: { type: 'text' },
    isBypass: { name: 'is_bypass', type: 'boolean' },
    comment: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
