import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PoolConfig } from 'pg';
import { unavailable } from '../../kernel/index.ts';

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const known = ['sslmode', 'sslrootcert', 'host', 'port', 'user', 'dbname', 'application_name'];
/** Milliseconds. */
const connectMs = 5_000;

const refuse = (sentence: string, cause?: unknown) =>
  unavailable('database_url_invalid', `SERVICE_DATABASE_URL: ${sentence}`, { cause });

/** A `/`, `?` or `#` in a password ends the host there: what follows, up to the `@`, is the rest of the password. */
const hasTornPassword = ({ pathname, search, hash }: URL): boolean =>
  hash !== '' || pathname.includes('@') || search.includes('@');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse('a % in it is not followed by two hexadecimal digits; write it as %25.');
  }
}

/** The URL without the password, for messages and the log. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return 'postgres://…';
  const parsed = new URL(url);
  if (hasTornPassword(parsed)) return 'postgres://…';
  return `postgres://${parsed.username === '' ? '' : `${parsed.username}@`}${parsed.host}${parsed.pathname}`;
}

/**
 * The client's settings for a URL. The client takes a missing password from `PGPASSWORD` or `~/.pgpass`. Throws
 * `database_url_invalid`; no message contains the password.
 */
export function clientSettings(url: string): PoolConfig {
  if (!URL.canParse(url)) throw refuse('this is not an address such as postgres://hearth@db.example.org/hearth.');
  const parsed = new URL(url);
  if (parsed.protocol !== 'postgres:' && parsed.protocol !== 'postgresql:')
    throw refuse('the address has to begin with postgres://.');
  if (hasTornPassword(parsed))
    throw refuse('write / ? # @ % in the user, the password or a file as %2F %3F %23 %40 %25.');
  const given = parsed.searchParams;
  const unknown = [...given.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) throw refuse(`there is no parameter ${unknown}; known are ${known.join(', ')}.`);
  const database = given.get('dbname') ?? decoded(parsed.pathname.slice(1));
  if (database === '') throw refuse('the address names no database; add one behind the host: /hearth.');
  const host = given.get('host') ?? decoded(parsed.hostname.replace(/^\[|\]$/g, ''));
  if (host === '') throw refuse('the address names no host; a socket is given as ?host=/run/postgresql.');
  const user = given.get('user') ?? decoded(parsed.username);
  const mode = given.get('sslmode') ?? 'prefer';
  if (!sslModes.some((each) => each === mode)) throw refuse(`sslmode is one of ${sslModes.join(', ')}.`);
  const port = Number(given.get('port') ?? (parsed.port === '' ? 5432 : parsed.port));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refuse('the port is a number from 1 to 65535.');
  return {
    host,
    port,
    database,
    ...(user === '' ? {} : { user }),
    ...(parsed.password === '' ? {} : { password: decoded(parsed.password) }),
    ssl: host.startsWith('/') ? false : tls(mode, given.get('sslrootcert')),
    application_name: given.get('application_name') ?? 'hearth',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/** `prefer` means without TLS here: a fallback that any machine on the way can force protects nothing. */
function tls(mode: string, caFile: string | null): PoolConfig['ssl'] {
  if (mode === 'disable' || (mode === 'prefer' && caFile === null)) return false;
  const ca = caFile === null ? {} : { ca: readCa(caFile) };
  if (mode === 'require' && caFile === null) return { rejectUnauthorized: false };
  if (mode === 'verify-full' || mode === 'prefer' || mode === 'require') return { ...ca, rejectUnauthorized: true };
  return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function readCa(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw refuse(`the file of sslrootcert cannot be read: ${(cause as Error).message}.`, cause);
  }
  try {
    // The client takes a file without any for one with no authority.
    new X509Certificate(text);
  } catch (cause) {
    throw refuse('the file of sslrootcert holds no certificate in PEM (-----BEGIN CERTIFICATE-----).', cause);
  }
  return text;
}
