/** Content of an `Authorization` header. */
type Credentials =
  /** No header. */
  | { kind: 'none' }
  /** `Bearer SECRET`, or `token SECRET`, as used by scripts for other forges. */
  | { kind: 'token'; secret: string }
  | { kind: 'basic'; username: string; password: string }
  /** Anything else, which must never be treated as a missing header. */
  | { kind: 'unknown' };

/** Node accepts headers of 16 KiB in total; the longest token issued by Hearth is that of a CI task, below 1 KiB. */
const longestSecret = 4_096;

/**
 * Parses an `Authorization` header: the only place that knows its schemes, whose names are case-insensitive (RFC 9110
 * §11.1).
 */
export function readAuthorization(header: string | undefined): Credentials {
  if (header === undefined) return { kind: 'none' };
  const space = header.indexOf(' ');
  const value = space === -1 ? '' : header.slice(space + 1).trim();
  if (value === '' || value.length > longestSecret) return { kind: 'unknown' };
  switch (header.slice(0, space).toLowerCase()) {
    case 'bearer':
    case 'token':
      return { kind: 'token', secret: value };
    case 'basic': {
      const pair = Buffer.from(value, 'base64').toString('utf8');
      const colon = pair.indexOf(':');
      return colon === -1
        ? { kind: 'basic', username: pair, password: '' }
        : { kind: 'basic', username: pair.slice(0, colon), password: pair.slice(colon + 1) };
    }
    default:
      return { kind: 'unknown' };
  }
}

/** The token of a `Bearer` or `token` header; null for any other header and for none. */
export function readToken(header: string | undefined): string | null {
  const credentials = readAuthorization(header);
  return credentials.kind === 'token' ? credentials.secret : null;
}

/** Possible tokens in the credentials, most likely first: clients differ in the field for it. */
export function secretsOf(credentials: Credentials): string[] {
  switch (credentials.kind) {
    case 'token':
      return [credentials.secret];
    case 'basic':
      return [credentials.password, credentials.username].filter((secret) => secret !== '');
    default:
      return [];
  }
}
