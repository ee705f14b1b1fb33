/** What a path below `/v2/` names. */
export type OciAddress =
  | { kind: 'ping' }
  | { kind: 'catalogue' }
  | ({ kind: 'tags' | 'uploads' } & OciName)
  | ({ kind: 'manifest' | 'blob' | 'referrers' | 'upload' } & OciName & { reference: string });

export interface OciName {
  owner: string;
  /** Without the owner, perhaps of several parts. */
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
 * Reads a path as the Distribution Specification 1.1 has them; null for every other, among them the pages of an owner
 * who is called `v2`.
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
