/** What an `Authorization` header brings. */
type Credentials =
  /** No header. */
  | { kind: 'none' }
  /** `Bearer SECRET`, or `token SECRET`, as scripts for other forges write it. */
  | { kind: 'token'; secret: string }
  | { kind: 'basic'; username: string; password: string }
  /** Anything else, which must never pass for no header. */
  | { kind: 'unknown' };

/**
 * Node takes headers of 16 KiB together; the longest token that Hearth gives away is that of a CI task, below 1 KiB.
 */
const longestSecret = 4_096;

/** Reads an `Authorization` header: the one place that knows its schemes, whose names have no case (RFC 9110 §11.1). */
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

/** The token of a `Bearer` or `token` header; null for every other and for none. */
export function readToken(header: string | undefined): string | null {
  const credentials = readAuthorization(header);
  return credentials.kind === 'token' ? credentials.secret : null;
}

/**
 * What may be a token in what was sent, in the order of likelihood: clients differ in which field they let people type.
 */
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
