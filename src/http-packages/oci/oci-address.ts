/** The target of a path below `/v2/`. */
export type OciAddress =
  | { kind: 'ping' }
  | { kind: 'catalogue' }
  | ({ kind: 'tags' | 'uploads' } & OciName)
  | ({ kind: 'manifest' | 'blob' | 'referrers' | 'upload' } & OciName & { reference: string });

export interface OciName {
  owner: string;
  /** Without the owner; possibly several segments. */
  name: string;
}

const name = '([^/]+)/(.+)';
const patterns: readonly (readonly [OciAddress['kind'], RegExp])[] = [
  ['tags', new RegExp(`^/v2/${name}/tags/list$`)],
  ['uploads', new RegExp(`^/v2/${name}/blobs/uploads/?$`)],
  ['upload', new RegExp(`^/v2/${name}/blobs/uploads/([0-9a-f-]{36})$`)],
  ['manifest', new RegExp(`^/v2/${name}/manifests/([^/]+)$`)],
  ['blob', new RegExp(`^/v2/${name}/blobs/([^/]+)$`)],
  ['referrers', new RegExp(`^/v2/${name}/referrers/([^/]+)$`)],
];

/**
 * Parses a path of the Distribution Specification 1.1; null for any other, including the pages of an owner called `v2`.
 */
export function readOciAddress(path: string): OciAddress | null {
  if (path === '/v2/') return { kind: 'ping' };
  if (path === '/v2/_catalog') return { kind: 'catalogue' };
  for (const [kind, pattern] of patterns) {
    const [, owner, rest, reference = ''] = pattern.exec(path) ?? [];
    if (owner === undefined || rest === undefined) continue;
    try {
      const [decodedOwner, decoded, decodedReference] = [owner, rest, reference].map(decodeURIComponent);
      return { kind, owner: decodedOwner!, name: decoded!, reference: decodedReference! } as OciAddress;
    } catch {
      return null;
    }
  }
  return null;
}
