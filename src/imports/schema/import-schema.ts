import { EntitySchema } from 'typeorm';
import type { FileFormat } from './file-format.ts';
import type { SourceKind } from './source-kind.ts';
import {
  groupItemSchema,
  groupLineSchema,
  groupMarkSchema,
  groupOwnerSchema,
  importGroupSchema,
} from './group-schema.ts';

/**
 * `running`: a run is in progress or due. `done`: nothing to do before `nextAt`, or at all without `watchMs`. `paused`:
 * waits for a user, who reads `lastError`. `ended`: no longer watches the source.
 */
export type ImportState = 'running' | 'done' | 'paused' | 'ended';

/** The steps of a run, in their order. */
export const phases = [
  'describe',
  'refs',
  'lfs',
  'wiki',
  'labels',
  'issues',
  'pulls',
  'comments',
  'write',
  'times',
  'files',
  'people',
  'releases',
  'settings',
  'finish',
] as const;
export type Phase = (typeof phases)[number];

/** A row of `imports`: an imported repository. Times are epoch milliseconds. */
export interface ImportRow {
  id: string;
  repositoryId: string;
  kind: SourceKind;
  /** Root of the API, without a trailing slash. */
  api: string;
  /** `owner/name` at the source. */
  project: string;
  /** Page URL at the source. */
  url: string;
  /** Host and port: the source of its authors. */
  host: string;
  secretCiphertext: string | null;
  /** Format of its source folder; null for the API of a forge. */
  files: FileFormat | null;
  /** JSON of `ImportOptions`. */
  options: string;
  state: ImportState;
  /** Number of the run, from 1. */
  run: number;
  /** Whether the run reads everything, not only what has changed since `since`. */
  isFull: boolean;
  /** Whether it is the last run: it ends the watch. */
  isLast: boolean;
  phase: Phase;
  /** JSON of `Progress`. */
  progress: string;
  /** Time of the other server after which changes are not here yet; null before the first complete run. */
  since: number | null;
  nextSince: number | null;
  /** Interval of checks for changes; null for never. */
  watchMs: number | null;
  nextAt: number;
  lockedUntil: number;
  /** Time until which the other server must not be contacted; null if unlimited. */
  waitsUntil: number | null;
  failures: number;
  lastError: string | null;
  requests: number;
  startedBy: string | null;
  startedAt: number | null;
  finishedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export const importSchema = new EntitySchema<ImportRow>({
  name: 'import',
  tableName: 'imports',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    kind: { type: 'text' },
    api: { type: 'text' },
    project: { type: 'text' },
    url: { type: 'text' },
    host: { type: 'text' },
    secretCiphertext: { name: 'secret_ciphertext', type: 'text', nullable: true },
    files: { type: 'text', nullable: true },
    options: { type: 'text' },
    state: { type: 'text' },
    run: { type: 'integer' },
    isFull: { name: 'is_full', type: 'boolean' },
    isLast: { name: 'is_last', type: 'boolean' },
    phase: { type: 'text' },
    progress: { type: 'text' },
    since: { type: 'integer', nullable: true },
    nextSince: { name: 'next_since', type: 'integer', nullable: true },
    watchMs: { name: 'watch_ms', type: 'integer', nullable: true },
    nextAt: { name: 'next_at', type: 'integer' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    waitsUntil: { name: 'waits_until', type: 'integer', nullable: true },
    failures: { type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    requests: { type: 'integer' },
    startedBy: { name: 'started_by', type: 'text', nullable: true },
    startedAt: { name: 'started_at', type: 'integer', nullable: true },
    finishedAt: { name: 'finished_at', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

/** Fetched data that is not written yet: an issue, a pull request or a comment, as JSON of its neutral form. */
export interface StagedRow {
  importId: string;
  /** Number of its issue. */
  number: number;
  kind: 'issue' | 'pull' | 'comment';
  /** Its key at the source. */
  item: string;
  data: string;
}

export const stagedSchema = new EntitySchema<StagedRow>({
  name: 'importStaged',
  tableName: 'import_staged',
  columns: {
    importId: { name: 'import_id', type: 'text', primary: true },
    number: { type: 'integer', primary: true },
    kind: { type: 'text', primary: true },
    item: { type: 'text', primary: true },
    data: { type: 'text' },
  },
});

/** State of an item when it was last written: a digest, the commit of a ref, an `ETag`. */
interface ItemRow {
  importId: string;
  /** `issue:7`, `ref:refs/heads/main`, `etag:issues`. */
  item: string;
  fingerprint: string;
}

export const itemSchema = new EntitySchema<ItemRow>({
  name: 'importItem',
  tableName: 'import_items',
  columns: {
    importId: { name: 'import_id', type: 'text', primary: true },
    item: { type: 'text', primary: true },
    fingerprint: { type: 'text' },
  },
});

/** A line of the report. */
export interface ProblemRow {
  importId: string;
  /** Subject of the line: `#7`, `v1.0`, `to do`. */
  item: string;
  problem: string;
  run: number;
  createdAt: number;
}

export const problemSchema = new EntitySchema<ProblemRow>({
  name: 'importProblem',
  tableName: 'import_problems',
  columns: {
    importId: { name: 'import_id', type: 'text', primary: true },
    item: { type: 'text', primary: true },
    problem: { type: 'text', primary: true },
    run: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** An author at the source. */
export interface ImportPersonRow {
  host: string;
  login: string;
  remoteId: string;
  name: string;
  /** An e-mail address that the source vouches for; empty for none. */
  email: string;
  url: string;
  /** The author's account here, once verified. */
  userId: string | null;
  claimedBy: string | null;
  claimedAt: number | null;
}

export const importPersonSchema = new EntitySchema<ImportPersonRow>({
  name: 'importPerson',
  tableName: 'import_people',
  columns: {
    host: { type: 'text', primary: true },
    login: { type: 'text', primary: true },
    remoteId: { name: 'remote_id', type: 'text' },
    name: { type: 'text' },
    email: { type: 'text' },
    url: { type: 'text' },
    userId: { name: 'user_id', type: 'text', nullable: true },
    claimedBy: { name: 'claimed_by', type: 'text', nullable: true },
    claimedAt: { name: 'claimed_at', type: 'integer', nullable: true },
  },
});

/** Time until which a host must not be contacted: all imports from it wait. */
interface ImportHostRow {
  host: string;
  blockedUntil: number;
}

export const importHostSchema = new EntitySchema<ImportHostRow>({
  name: 'importHost',
  tableName: 'import_hosts',
  columns: {
    host: { type: 'text', primary: true },
    blockedUntil: { name: 'blocked_until', type: 'integer' },
  },
});

export const importEntities = [
  importSchema,
  stagedSchema,
  itemSchema,
  problemSchema,
  importPersonSchema,
  importHostSchema,
  importGroupSchema,
  groupOwnerSchema,
  groupItemSchema,
  groupLineSchema,
  groupMarkSchema,
];
