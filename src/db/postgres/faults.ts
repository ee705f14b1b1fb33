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

const statementPooling =
  'PgBouncer has pool_mode = statement, which takes no transactions: set pool_mode = transaction in its pgbouncer.ini.';

/** Converts PostgreSQL's faults to `DomainError`s; returns other errors unchanged. */
export function translatePostgresFault(error: unknown): unknown {
  if (isDomainError(error)) return error;
  const { code, message } = driverErrorOf(error);
  if (/not allowed in statement pooling mode/.test(message))
    return unavailable('database_unfit', statementPooling, { cause: error });
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

const unknownAuthority =
  'its certificate is of an authority that is not known here; ?sslrootcert=FILE names the file of that authority.';

const remedies: Readonly<Record<string, string>> = {
  '28P01': 'it refuses the password; check it in SERVICE_DATABASE_URL, its file, or .pgpass.',
  '28000': 'it refuses this user from this address; see pg_hba.conf of the server.',
  '3D000': 'there is no such database; make it with createdb.',
  '53300': 'it has no connection left; lower database.pool, or raise max_connections of the server.',
  '57P03': 'it is starting or stopping; try again in a moment.',
  ENOTFOUND: 'there is no such host.',
  EAI_AGAIN: 'the name of the host cannot be looked up.',
  ECONNREFUSED: 'nothing listens there; start PostgreSQL, or correct host and port.',
  ENOENT: 'there is no socket; start PostgreSQL, or correct the folder.',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another host name; use that name in the address, or ?sslmode=verify-ca.',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it, and reload PostgreSQL.',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks of both machines.',
};

/** Messages that say more than their code, or have none: of the server, and of the client. */
const byMessage: readonly (readonly [words: RegExp, remedy: string])[] = [
  [/no encryption/, 'it takes connections with TLS only; add ?sslmode=verify-full&sslrootcert=FILE.'],
  [
    /client password must be a string/,
    'it asks for a password, and none is given; put it into the address, PGPASSWORD, or .pgpass (chmod 600).',
  ],
  [
    /unsupported startup parameter/,
    'PgBouncer is between them; put into its pgbouncer.ini: ignore_startup_parameters = options.',
  ],
  [/timeout|timed out/i, 'it does not answer; look for a firewall between them, or another program at this port.'],
  [
    /terminated unexpectedly|ECONNRESET/,
    'it ended the connection; is it PostgreSQL that listens there? Correct host and port.',
  ],
  [/does not support SSL/, 'it offers no TLS; switch ssl on in the server, or give ?sslmode=disable.'],
];

const lasting = ['28', '3D', 'SELF_SIGNED', 'DEPTH_ZERO', 'UNABLE_TO', 'ERR_TLS', 'CERT_'];
const lastingWords = /client password must be a string|unsupported startup parameter/;

/** Why no connection can be opened, as one sentence with the remedy. @param shown the URL without its password */
export function connectionRefused(error: unknown, shown: string): unknown {
  if (isDomainError(error)) return error;
  const { code = '', message } = driverErrorOf(error);
  const remedy =
    byMessage.find(([words]) => words.test(message))?.[1] ?? remedies[code] ?? `${message.replace(/\.$/, '')}.`;
  // These persist until someone changes something; the others may be transient.
  const words = `The database ${shown} cannot be opened: ${remedy}`;
  return lasting.some((start) => code.startsWith(start)) || lastingWords.test(message)
    ? unavailable('database_unfit', words, { cause: error })
    : unavailable('database_unreachable', words, { cause: error });
}
