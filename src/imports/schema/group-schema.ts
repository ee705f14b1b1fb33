import { EntitySchema } from 'typeorm';
import type { SourceKind } from './source-kind.ts';

/** A row of `import_groups`: an import of an account, an organisation or a whole server. Times: epoch ms. */
export interface ImportGroupRow {
  id: string;
  kind: SourceKind;
  /** Root of the API, without a trailing slash. */
  api: string;
  /** The account at the source; empty for the whole server. */
  account: string;
  /** Handle of the owner here; empty if each owner at the source becomes one here. */
  owner: string;
  /** Page URL at the source. */
  url: string;
  host: string;
  secretCiphertext: string | null;
  /** JSON of `ImportOptions`. */
  options: string;
  /**
   * `running`: listing its repositories and starting their imports, or due for that. `paused`: waits for a user, who
   * reads `lastError`.
   */
  state: 'running' | 'done' | 'paused';
  /** Cursor of the list of owners. */
  cursor: string | null;
  hasOwners: boolean;
  /** Interval of checks of its repositories for changes; null for never. */
  watchMs: number | null;
  nextAt: number;
  lockedUntil: number;
  waitsUntil: number | null;
  failures: number;
  lastError: string | null;
  requests: number;
  /** Null for the command line. */
  startedBy: string | null;
  createdAt: number;
  updatedAt: number;
}

export const importGroupSchema = new EntitySchema<ImportGroupRow>({
  name: 'importGroup',
  tableName: 'import_groups',
  columns: {
    id: { type: 'text', primary: true },
    kind: { type: 'text' },
    api: { type: 'text' },
    account: { type: 'text' },
    owner: { type: 'text' },
    url: { type: 'text' },
    host: { type: 'text' },
    secretCiphertext: { name: 'secret_ciphertext', type: 'text', nullable: true },
    options: { type: 'text' },
    state: { type: 'text' },
    cursor: { type: 'text', nullable: true },
    hasOwners: { name: 'has_owners', type: 'boolean' },
    watchMs: { name: 'watch_ms', type: 'integer', nullable: true },
    nextAt: { name: 'next_at', type: 'integer' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    waitsUntil: { name: 'waits_until', type: 'integer', nullable: true },
    failures: { type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    requests: { type: 'integer' },
    startedBy: { name: 'started_by', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

/** An account or an organisation at the source, with its owner here. */
export interface GroupOwnerRow {
  groupId: string;
  login: string;
  kind: 'user' | 'organisation';
  /** JSON of its entry in the list. */
  details: string;
  ownerId: string | null;
  /** Reason why it has no owner here. */
  problem: string | null;
  /** Cursor of the list of its repositories. */
  cursor: string | null;
  isListed: boolean;
  /** Whether this import has created the owner here. */
  isMade: boolean;
  /** Whether its picture, teams and keys were read since the order. */
  isBrought: boolean;
}

export const groupOwnerSchema = new EntitySchema<GroupOwnerRow>({
  name: 'importGroupOwner',
  tableName: 'import_group_owners',
  columns: {
    groupId: { name: 'group_id', type: 'text', primary: true },
    login: { type: 'text', primary: true },
    kind: { type: 'text' },
    details: { type: 'text' },
    ownerId: { name: 'owner_id', type: 'text', nullable: true },
    problem: { type: 'text', nullable: true },
    cursor: { type: 'text', nullable: true },
    isListed: { name: 'is_listed', type: 'boolean' },
    isMade: { name: 'is_made', type: 'boolean' },
    isBrought: { name: 'is_brought', type: 'boolean' },
  },
});

/** A line of the report about an owner. */
interface GroupLineRow {
  groupId: string;
  login: string;
  problem: string;
}

export const groupLineSchema = new EntitySchema<GroupLineRow>({
  name: 'importGroupLine',
  tableName: 'import_group_lines',
  columns: {
    groupId: { name: 'group_id', type: 'text', primary: true },
    login: { type: 'text', primary: true },
    problem: { type: 'text', primary: true },
  },
});

/** What was written once: a membership, a role of a team, a key; for a picture its digest. */
interface GroupMarkRow {
  groupId: string;
  item: string;
  fingerprint: string;
}

export const groupMarkSchema = new EntitySchema<GroupMarkRow>({
  name: 'importGroupMark',
  tableName: 'import_group_marks',
  columns: {
    groupId: { name: 'group_id', type: 'text', primary: true },
    item: { type: 'text', primary: true },
    fingerprint: { type: 'text' },
  },
});

/** A repository at the source. */
export interface GroupItemRow {
  groupId: string;
  /** Its key at the source: `owner/name`. */
  project: string;
  login: string;
  name: string;
  url: string;
  /** Written before its repository is created here, so that one left by a stop can be found. */
  begunAt: number | null;
  repositoryId: string | null;
  /** Reason why it was not imported. */
  problem: string | null;
}

export const groupItemSchema = new EntitySchema<GroupItemRow>({
  name: 'importGroupItem',
  tableName: 'import_group_items',
  columns: {
    groupId: { name: 'group_id', type: 'text', primary: true },
    project: { type: 'text', primary: true },
    login: { type: 'text' },
    name: { type: 'text' },
    url: { type: 'text' },
    begunAt: { name: 'begun_at', type: 'integer', nullable: true },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    problem: { type: 'text', nullable: true },
  },
});
