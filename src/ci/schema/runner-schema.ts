import { EntitySchema } from 'typeorm';
import { scopeColumns } from '../scope.ts';
import type { ScopeColumns } from '../scope.ts';

/** A row of `ci_runners`. */
export interface RunnerRow extends ScopeColumns {
  id: number;
  uuid: string;
  tokenSalt: string;
  tokenHash: string;
  name: string;
  version: string;
  /** Effective labels: chosen by a user, else declared last, else from the registration. */
  labels: string[];
  /** Labels of its last declaration. */
  declaredLabels: string[];
  /** Whether a user has chosen `labels`, so that declarations do not replace them. */
  hasChosenLabels: boolean;
  /** Labels from a registration by shared secret. */
  registeredLabels: string[];
  capabilities: string[];
  /** Whether it takes one task and is then removed. */
  ephemeral: boolean;
  /** Whether it rejects jobs of untrusted runs. */
  trustedOnly: boolean;
  disabledAt: number | null;
  /** Time of its last declaration, which runners send at start. */
  declaredAt: number | null;
  createdAt: number;
  /** Time of the last authenticated call; written occasionally. */
  lastSeenAt: number | null;
  /** Time of the last report about a task; written occasionally. */
  lastActiveAt: number | null;
}

/** A row of `ci_registration_tokens`. */
interface RegistrationTokenRow extends ScopeColumns {
  id: string;
  tokenHash: string;
  createdBy: string | null;
  createdAt: number;
  /** When a newer token of the same scope replaced it, or when its single use took place. */
  replacedAt: number | null;
  /** Whether it registers one runner within a day, in addition to the token of its scope. */
  singleUse: boolean;
}

export const runnerSchema = new EntitySchema<RunnerRow>({
  name: 'ciRunner',
  tableName: 'ci_runners',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    uuid: { type: 'text' },
    ...scopeColumns,
    tokenSalt: { name: 'token_salt', type: 'text' },
    tokenHash: { name: 'token_hash', type: 'text' },
    name: { type: 'text' },
    version: { type: 'text' },
    labels: { type: 'simple-json' },
    declaredLabels: { name: 'declared_labels', type: 'simple-json' },
    hasChosenLabels: { name: 'has_chosen_labels', type: 'boolean' },
    registeredLabels: { name: 'registered_labels', type: 'simple-json' },
    capabilities: { type: 'simple-json' },
    ephemeral: { type: 'boolean' },
    trustedOnly: { name: 'trusted_only', type: 'boolean' },
    declaredAt: { name: 'declared_at', type: 'integer', nullable: true },
    disabledAt: { name: 'disabled_at', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    lastSeenAt: { name: 'last_seen_at', type: 'integer', nullable: true },
    lastActiveAt: { name: 'last_active_at', type: 'integer', nullable: true },
  },
});

export const registrationTokenSchema = new EntitySchema<RegistrationTokenRow>({
  name: 'ciRegistrationToken',
  tableName: 'ci_registration_tokens',
  columns: {
    id: { type: 'text', primary: true },
    ...scopeColumns,
    tokenHash: { name: 'token_hash', type: 'text' },
    createdBy: { name: 'created_by', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    replacedAt: { name: 'replaced_at', type: 'integer', nullable: true },
    singleUse: { name: 'single_use', type: 'boolean' },
  },
});
