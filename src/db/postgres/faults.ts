import { type DomainError, isDomainError, unavailable } from '../../kernel/index.ts';

interface ReportedError extends Error {
  code?: string;
}

/** PostgreSQL's error codes that are transient or need an administrator, with their messages. */
const lockTimeout = '55P03';
const cancelled = '57014';
const diskFull = '53100';
const readOnly = '25006';
const numberTooLarge = '22003';

/** Error codes of a lost or failed connection. */
const connectionClasses = ['08', '57P', '53300', '28', '3D'];
const systemCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'ENOENT',
  'EHOSTUNREACH',
];

/** Whether the connection of a failed statement was lost. */
export function isConnectionFault(error: unknown): boolean {
  const { code = '', message } = driverErrorOf(error);
  if (code === idleTimeout) return true;
  return (
    systemCodes.includes(code) ||
    (code !== cancelled && connectionClasses.some((start) => code.startsWith(start))) ||
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|query runner was already released/.test(
      message,
    )
  );
}

const idleTimeout = '25P03';

function driverErrorOf(error: unknown): ReportedError {
  const { driverError } = error as { driverError?: ReportedError };
  return driverError ?? (error as ReportedError);
}

export const databaseUnavailable = (cause?: unknown): DomainError =>
  unavailable('database_unavailable', 'The database cannot be reached. Please try again in a moment.', {
    retryAfterSeconds: 5,
    cause,
  });

/** Message if the outcome of a write is unknown: must not claim that it failed. */
export const outcomeUnknown = (cause?: unknown): DomainError =>
  unavailable(
    'outcome_unknown',
    'The connection to the database was lost, and it is not known whether this was done. Look before you repeat it.',
    { retryAfterSeconds: 5, cause },
  );

/** Converts PostgreSQL's faults to `DomainError`s; returns other errors unchanged. */
export function translatePostgresFault(error: unknown): unknown {
  if (isDomainError(error)) return error;
  const { code } = driverErrorOf(error);
  switch (code) {
    case lockTimeout:
      return unavailable('database_locked', 'The database is locked by another program. Try again in a moment.', {
        retryAfterSeconds: 5,
        cause: error,
      });
    case cancelled:
      return unavailable('took_too_long', 'This takes the server too long. Ask for something more specific.', {
        retryAfterSeconds: 5,
        cause: error,
      });
    case diskFull:
      return unavailable('disk_full', 'The disk of the database is full: nothing was changed.', { cause: error });
    case readOnly:
      return unavailable('read_only', 'The database does not accept writes: nothing was changed.', { cause: error });
    case numberTooLarge:
      return unavailable('number_too_large', 'A number is too large for the database: nothing was changed.', {
        cause: error,
      });
    default:
      return isConnectionFault(error) ? databaseUnavailable(error) : error;
  }
}

const remedies: Readonly<Record<string, string>> = {
  '28P01': 'it refuses the password; check it in SERVICE_DATABASE_URL or its file.',
  '28000': 'it refuses this user from this address; see pg_hba.conf of the server.',
  '3D000': 'there is no such database; make it with createdb.',
  '53300': 'it has no connection left; lower database.pool, or raise max_connections of the server.',
  '57P03': 'it is starting or stopping; try again in a moment.',
  ENOTFOUND: 'there is no such host.',
  EAI_AGAIN: 'the name of the host cannot be looked up.',
  ECONNREFUSED: 'nothing listens there; start PostgreSQL, or correct host and port.',
  ENOENT: 'there is no socket; start PostgreSQL, or correct the folder.',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority; name its file: ?sslrootcert=FILE.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is of an unknown authority; name its file: ?sslrootcert=FILE.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority; name its file: ?sslrootcert=FILE.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name.',
};

/** Messages of the client, which has no codes for these. */
const byMessage: readonly (readonly [words: RegExp, remedy: string])[] = [
  [/timeout|timed out/i, 'it does not answer; look for a firewall between them, or another program at this port.'],
  [
    /terminated unexpectedly|ECONNRESET/,
    'it ended the connection; is it PostgreSQL that listens there? Correct host and port.',
  ],
  [/does not support SSL/, 'it offers no TLS; switch ssl on in the server, or give ?sslmode=disable.'],
];

const lasting = ['28', '3D', 'SELF_SIGNED', 'DEPTH_ZERO', 'UNABLE_TO', 'ERR_TLS'];

/** Why no connection can be opened, as one sentence with the remedy. @param shown the URL without its password */
export function connectionRefused(error: unknown, shown: string): unknown {
  if (isDomainError(error)) return error;
  const { code = '', message } = driverErrorOf(error);
  const remedy =
    remedies[code] ?? byMessage.find(([words]) => words.test(message))?.[1] ?? `${message.replace(/\.$/, '')}.`;
  // These persist until someone changes something; the others may be transient.
  const words = `The database ${shown} cannot be opened: ${remedy}`;
  return lasting.some((start) => code.startsWith(start))
    ? unavailable('database_unfit', words, { cause: error })
    : unavailable('database_unreachable', words, { cause: error });
}
