import { isDomainError } from '../kernel/index.ts';
import type { ErrorCode } from '../kernel/index.ts';

/** Every exit code of the program; `hearth help exit-codes` prints this list. */
export const exitCodes = [
  [0, 'done'],
  [1, 'failure'],
  [2, 'incorrect usage'],
  [3, 'not found'],
  [4, 'refused by a rule or a conflict (for example: name already taken, last administrator)'],
  [5, 'invalid configuration, or no data folder found'],
  [6, 'database unavailable or locked, its schema does not match, or another server uses the data folder'],
  [7, 'a check found problems'],
  [78, 'serve refuses to start because of settings, schema or runtime; a restart does not help'],
  [130, 'interrupted (Ctrl-C)'],
  [143, 'terminated'],
] as const;

export type ExitCode = (typeof exitCodes)[number][0];

/** Exit codes by error code. */
const byErrorCode: Record<ErrorCode, ExitCode> = {
  invalid: 2,
  unauthenticated: 4,
  forbidden: 4,
  not_found: 3,
  conflict: 4,
  unavailable: 6,
  internal: 1,
};

/** A user or a signal ended the command; nothing is printed. */
export class Interrupted extends Error {
  readonly exitCode: ExitCode;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(signal);
    this.exitCode = signal === 'SIGINT' ? 130 : 143;
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return error.exitCode;
  if (!isDomainError(error)) return 1;
  if (isAboutSettings(error.reason)) return 5;
  return plainFailures.has(error.reason) ? 1 : byErrorCode[error.code];
}

/** Refusals whose code usually has another meaning: these do not concern the database. */
const plainFailures = new Set([
  'port_in_use',
  'port_forbidden',
  'no_such_address',
  'ssh_address_unavailable',
  'server_not_running',
  'server_went_away',
  // Concerns another server, not our database.
  'peer_unreachable',
  'document_missing',
  'document_unusable',
  'answer_too_large',
  'answer_encoded',
  'host_busy',
]);

/** Refusals of `serve`, besides those of the settings, that last until an administrator changes something. */
const lasting = new Set([
  'data_dir_unusable',
  'network_file_system',
  'schema_newer',
  'schema_behind',
  'port_forbidden',
  'host_key_unusable',
  // A corrupt file, or one to which SQLite cannot apply its settings; a temporary lock has its own reason.
  'database_unavailable',
  'database_unfit',
  'database_url_invalid',
  'read_only',
  'instance_replaced',
  'bucket_of_another_instance',
]);

export function exitCodeOfServe(error: unknown): ExitCode {
  const stays = isDomainError(error) && (isAboutSettings(error.reason) || lasting.has(error.reason));
  return stays ? 78 : exitCodeOf(error);
}

function isAboutSettings(reason: string): boolean {
  return (
    reason.startsWith('config_') || reason === 'no_data_dir' || reason === 'git_missing' || reason === 'git_too_old'
  );
}
