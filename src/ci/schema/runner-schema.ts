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
  /** Those that count: chosen for it, else declared last, else those of its registration. */
  labels: string[];
  /** Those that it declared last. */
  declaredLabels: string[];
  /** Whether `labels` were chosen by a person, so that no declaration replaces them. */
  hasChosenLabels: boolean;
  /** Given with a registration by shared secret. */
  registeredLabels: string[];
  capabilities: string[];
  /** Takes one task, then is removed. */
  ephemeral: boolean;
  /** Takes no jobs of runs that are not trusted. */
  trustedOnly: boolean;
  disabledAt: number | null;
  /** When it declared itself last, which runners do at their start. */
  declaredAt: number | null;
  createdAt: number;
  /** Last authenticated call; written now and then. */
  lastSeenAt: number | null;
  /** Last report about a task; written now and then. */
  lastActiveAt: number | null;
}

/** A row of `ci_registration_tokens`. */
interface RegistrationTokenRow extends ScopeColumns {
  id: string;
  tokenHash: string;
  createdBy: string | null;
  createdAt: number;
  /** When a newer one of the same scope replaced it, or its single use was made. */
  replacedAt: number | null;
  /** Registers one runner, within a day, in addition to the token of its scope. */
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
