/** The parts of a request that a signature covers. */
interface SignedParts {
  /** Upper, lower or mixed case. */
  method: string;
  /** Path and query as in the request line. */
  target: string;
  /** Values by lower-case header name; repeated headers are joined with `, `. */
  headers: ReadonlyMap<string, string>;
  /** Seconds since the epoch, for `(created)` and `(expires)`. */
  created?: number | null;
  expires?: number | null;
}

/**
 * The text to sign (draft-cavage-http-signatures-12 §2.3): one line for each name in `covered`, in that order. `null`
 * if a covered part is missing.
 */
export function signingString(covered: readonly string[], parts: SignedParts): string | null {
  let text = '';
  for (const name of covered) {
    const value = partValue(name, parts);
    if (value === null) return null;
    text += `${text === '' ? '' : '\n'}${name}: ${value}`;
  }
  return text;
}

function partValue(name: string, { method, target, headers, created, expires }: SignedParts): string | null {
  switch (name) {
    case '(request-target)':
      return `${method.toLowerCase()} ${target}`;
    case '(created)':
      return created == null ? null : String(created);
    case '(expires)':
      return expires == null ? null : String(expires);
    default:
      return headers.get(name) ?? null;
  }
}
