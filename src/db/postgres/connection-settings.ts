import { readFileSync } from 'node:fs';
import type { PoolConfig } from 'pg';
import { unavailable } from '../../kernel/index.ts';

/** Connection settings for PostgreSQL. */
export interface PostgresSettings {
  /** `postgres://user:password@host:port/database?sslmode=…&sslrootcert=FILE`. */
  url: string;
  /** Number of connections for reading, and for concurrent writes. */
  poolSize: number;
}

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const known = ['sslmode', 'sslrootcert', 'host', 'port', 'user', 'dbname', 'application_name'];
/** Milliseconds. */
const connectMs = 5_000;

const refuse = (sentence: string) => unavailable('database_url_invalid', `SERVICE_DATABASE_URL: ${sentence}`);

/** The URL without the password, for messages and the log. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return 'postgres://…';
  const parsed = new URL(url);
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
  const given = parsed.searchParams;
  const unknown = [...given.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) throw refuse(`there is no parameter ${unknown}; known are ${known.join(', ')}.`);
  const database = given.get('dbname') ?? decodeURIComponent(parsed.pathname.slice(1));
  if (database === '') throw refuse('the address names no database; add one behind the host: /hearth.');
  const host = given.get('host') ?? decodeURIComponent(parsed.hostname.replace(/^\[|\]$/g, ''));
  if (host === '') throw refuse('the address names no host; a socket is given as ?host=/run/postgresql.');
  const user = given.get('user') ?? decodeURIComponent(parsed.username);
  const mode = given.get('sslmode') ?? 'prefer';
  if (!sslModes.some((each) => each === mode)) throw refuse(`sslmode is one of ${sslModes.join(', ')}.`);
  return {
    host,
    port: Number(given.get('port') ?? (parsed.port === '' ? 5432 : parsed.port)),
    database,
    ...(user === '' ? {} : { user }),
    ...(parsed.password === '' ? {} : { password: decodeURIComponent(parsed.password) }),
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
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw unavailable(
      'database_url_invalid',
      `SERVICE_DATABASE_URL: the file of sslrootcert cannot be read: ${(cause as Error).message}.`,
      { cause },
    );
  }
}
