import { EntitySchema } from 'typeorm';

export const refPolicies = ['all', 'protected', 'custom'] as const;
/** Refs that may deploy: all, those protected by a branch rule, or those matching a list of patterns. */
export type RefPolicy = (typeof refPolicies)[number];

/** A row of `ci_environments`. */
export interface EnvironmentRow {
  id: number;
  repositoryId: string;
  name: string;
  /** In lower case, because names ignore case. */
  nameFolded: string;
  waitMinutes: number;
  /** Remains true if all reviewers are deleted. */
  needsReview: boolean;
  /** Whether the user who started a run may not approve it. */
  preventsSelfReview: boolean;
  /** Whether a reviewer needs write access. */
  needsWrite: boolean;
  /** Whether administrators of the repository may approve without being reviewers. */
  adminsBypass: boolean;
  refPolicy: RefPolicy;
  createdAt: number;
  updatedAt: number;
}

/** A row of `ci_environment_reviewers`: a user, or a team each of whose members may approve. */
export interface EnvironmentReviewerRow {
  id: number;
  environmentId: number;
  userId: string | null;
  teamId: string | null;
}

/** A row of `ci_environment_refs`. */
export interface EnvironmentRefRow {
  id: number;
  environmentId: number;
  kind: 'branch' | 'tag';
  pattern: string;
}

/** A row of `ci_environment_secrets`. */
interface EnvironmentSecretRow {
  environmentId: number;
  name: string;
  ciphertext: string;
  createdAt: number;
  updatedAt: number;
}

/** A row of `ci_environment_variables`. */
interface EnvironmentVariableRow {
  environmentId: number;
  name: string;
  value: string;
  createdAt: number;
  updatedAt: number;
}

export const environmentSchema = new EntitySchema<EnvironmentRow>({
  name: 'ciEnvironment',
  tableName: 'ci_environments',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    repositoryId: { name: 'repository_id', type: 'text' },
    name: { type: 'text' },
    nameFolded: { name: 'name_folded', type: 'text' },
    waitMinutes: { name: 'wait_minutes', type: 'integer' },
    needsReview: { name: 'needs_review', type: 'boolean' },
    preventsSelfReview: { name: 'prevents_self_review', type: 'boolean' },
    needsWrite: { name: 'needs_write', type: 'boolean' },
    adminsBypass: { name: 'admins_bypass', type: 'boolean' },
    refPolicy: { name: 'ref_policy', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

export const environmentReviewerSchema = new EntitySchema<EnvironmentReviewerRow>({
  name: 'ciEnvironmentReviewer',
  tableName: 'ci_environment_reviewers',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    environmentId: { name: 'environment_id', type: 'integer' },
    userId: { name: 'user_id', type: 'text', nullable: true },
    teamId: { name: 'team_id', type: 'text', nullable: true },
  },
});

export const environmentRefSchema = new EntitySchema<EnvironmentRefRow>({
  name: 'ciEnvironmentRef',
  tableName: 'ci_environment_refs',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    environmentId: { name: 'environment_id', type: 'integer' },
    kind: { type: 'text' },
    pattern: { type: 'text' },
  },
});

const valueColumns = {
  environmentId: { name: 'environment_id', type: 'integer', primary: true },
  name: { type: 'text', primary: true },
  createdAt: { name: 'created_at', type: 'integer' },
  updatedAt: { name: 'updated_at', type: 'integer' },
} as const;

export const environmentSecretSchema = new EntitySchema<EnvironmentSecretRow>({
  name: 'ciEnvironmentSecret',
  tableName: 'ci_environment_secrets',
  columns: { ...valueColumns, ciphertext: { type: 'text' } },
});

export const environmentVariableSchema = new EntitySchema<EnvironmentVariableRow>({
  name: 'ciEnvironmentVariable',
  tableName: 'ci_environment_variables',
  columns: { ...valueColumns, value: { type: 'text' } },
});
