import { QueryFailedError } from 'typeorm';
import { diskFull, unavailable } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import { WriterEnded } from './writer-connection.ts';

/** SQLite's primary result codes (the low byte of the extended ones). */
const busy = 5;
const locked = 6;
const readOnly = 8;
const inputOutput = 10;
const full = 13;
/** Extended codes for a failed write that changed nothing in the file; not used for a failed sync. */
const notWritten = 778;

function driverError(error: unknown): (Error & { errcode?: number }) | null {
  if (!(error instanceof QueryFailedError)) return null;
  return error.driverError as Error & { errcode?: number };
}

function primaryCode(error: unknown): number | null {
  const errcode = driverError(error)?.errcode;
  return errcode === undefined ? null : errcode & 0xff;
}

/** The database's own message, without TypeORM's text around it. */
export function driverMessage(error: unknown): string {
  return (driverError(error) ?? (error as Error)).message;
}

/**
 * Unique rules that the program recognises, by the names that PostgreSQL reports, with the columns that SQLite reports
 * instead. A unique index has the same name in both; PostgreSQL calls a primary key `<table>_pkey`.
 */
export const uniqueRules = {
  handles_pkey: ['handles.folded'],
  users_username: ['users.username'],
  ssh_keys_sign_in: ['ssh_keys.fingerprint'],
  deploy_keys_fingerprint: ['deploy_keys.fingerprint'],
  ssh_keys_fingerprint_user: ['ssh_keys.fingerprint', 'ssh_keys.user_id'],
  access_tokens_user_name: ['access_tokens.user_id', 'access_tokens.name'],
  repositories_user_name: ['repositories.owner_user_id', 'repositories.name_folded'],
  repositories_org_name: ['repositories.owner_org_id', 'repositories.name_folded'],
  labels_repository_name: ['labels.repository_id', 'labels.name_folded'],
  labels_organisation_name: ['labels.organisation_id', 'labels.name_folded'],
  milestones_title: ['milestones.repository_id', 'milestones.title_folded'],
  boards_repository_title: ['boards.repository_id', 'boards.title_folded'],
  boards_organisation_title: ['boards.organisation_id', 'boards.title_folded'],
  board_columns_name: ['board_columns.board_id', 'board_columns.name_folded'],
  email_addresses_user_key: ['email_addresses.user_id', 'email_addresses.address_key'],
  email_addresses_verified: ['email_addresses.address_key'],
  pulls_one_per_branch: ['pulls.repository_id', 'pulls.base_branch', 'pulls.head_repository_id', 'pulls.head_branch'],
  pulls_one_per_topic: ['pulls.repository_id', 'pulls.base_branch', 'pulls.submitter_id', 'pulls.topic'],
  releases_tag: ['releases.repository_id', 'releases.tag'],
  release_files_name: ['release_files.release_id', 'release_files.name'],
  person_identities_subject: ['person_identities.issuer', 'person_identities.subject'],
} as const satisfies Record<string, readonly string[]>;

export type UniqueRule = keyof typeof uniqueRules;

/** Fields of PostgreSQL's error for a violated rule. */
interface PostgresError {
  code?: string;
  constraint?: string;
}
const uniqueViolation = '23505';
const foreignKeyViolation = '23503';

/** Whether a write violated this unique rule. */
export function isUniqueViolation(error: unknown, rule: UniqueRule): boolean {
  const reported = driverError(error) as (Error & PostgresError) | null;
  if (reported?.code === uniqueViolation) return reported.constraint === rule;
  return reported?.message === `UNIQUE constraint failed: ${uniqueRules[rule].join(', ')}`;
}

/** Whether a write violated a foreign key: a referenced row is missing, or the row is still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  const reported = driverError(error) as (Error & PostgresError) | null;
  return (
    reported?.code === foreignKeyViolation || (reported?.message ?? '').startsWith('FOREIGN KEY constraint failed')
  );
}

/**
 * Whether storage can no longer be trusted: after a failed fsync the state on disk is unknown, and without its thread
 * nothing can be written. On a file system that became read-only, a write fails earlier and is rolled back; reads
 * continue.
 */
export function isStorageFault(error: unknown): boolean {
  if (driverError(error)?.errcode === notWritten) return false;
  return primaryCode(error) === inputOutput || driverError(error) instanceof WriterEnded;
}

export function databaseLocked(cause?: unknown): DomainError {
  return unavailable('database_locked', 'The database is locked by another program. Try again in a moment.', {
    retryAfterSeconds: 5,
    cause,
  });
}

/** Converts transient faults to `DomainError`s; returns other errors unchanged. */
export function translateFault(error: unknown): unknown {
  if (driverError(error)?.errcode === notWritten)
    return unavailable('disk_refuses_writes', 'The disk refuses writes: nothing was changed.', { cause: error });
  switch (primaryCode(error)) {
    case busy:
    case locked:
      return databaseLocked(error);
    case full:
      return diskFull(error);
    case readOnly:
      return unavailable('read_only', 'The data folder is read-only: nothing was changed.', { cause: error });
    default:
      return error;
  }
}
