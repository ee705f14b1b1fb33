import type { Context } from '../../http/index.ts';
import type { PackageErrorFormat } from '../errors.ts';
import type { OciAddress } from './oci-address.ts';

/** Codes of the Distribution Specification 1.1, "Error Codes". */
const codeOfReason: Readonly<Record<string, string>> = {
  invalid_package_name: 'NAME_INVALID',
  invalid_package_version: 'DIGEST_INVALID',
  package_digest: 'DIGEST_INVALID',
  package_blob_missing: 'BLOB_UNKNOWN',
  package_manifest_blob_missing: 'MANIFEST_BLOB_UNKNOWN',
  package_manifest: 'MANIFEST_INVALID',
  package_manifest_too_large: 'MANIFEST_INVALID',
  package_tag: 'TAG_INVALID',
  package_version_not_found: 'MANIFEST_UNKNOWN',
  package_upload_unknown: 'BLOB_UPLOAD_UNKNOWN',
  package_chunk_range: 'BLOB_UPLOAD_INVALID',
  package_chunk_range_form: 'BLOB_UPLOAD_INVALID',
  request_cut_short: 'BLOB_UPLOAD_INVALID',
  package_file_too_large: 'SIZE_INVALID',
  package_quota: 'DENIED',
  package_unsupported: 'UNSUPPORTED',
  package_blob_used: 'UNSUPPORTED',
};

const codeOfStatus: Readonly<Record<number, string>> = {
  401: 'UNAUTHORIZED',
  403: 'DENIED',
  404: 'NAME_UNKNOWN',
  405: 'UNSUPPORTED',
  429: 'TOOMANYREQUESTS',
  503: 'UNAVAILABLE',
};

/** The actions that a request needs, for the scope of its challenge. */
function scopeOf(ctx: Context, address: OciAddress | null): string | null {
  if (address === null || address.kind === 'ping') return null;
  if (address.kind === 'catalogue') return 'registry:catalog:*';
  const name = `${address.owner}/${address.name}`;
  const isUpload = address.kind === 'upload' || address.kind === 'uploads';
  if (!isUpload && (ctx.method === 'GET' || ctx.method === 'HEAD')) return `repository:${name}:pull`;
  const own = `repository:${name}:${ctx.method === 'DELETE' && !isUpload ? 'pull,delete' : 'pull,push'}`;
  const source = address.kind === 'uploads' ? (new URLSearchParams(ctx.querystring).get('from') ?? '') : '';
  return isPackagePath(source) ? `${own} repository:${source}:pull` : own;
}

/** A name that is valid in a header. */
const isPackagePath = (text: string): boolean => text.length < 256 && /^[a-z0-9._-]+(?:\/[a-z0-9._-]+)+$/i.test(text);

/** The challenge that refers clients to the token service. */
function challenge(ctx: Context, address: OciAddress | null, error?: string): string {
  const { origin } = ctx.state;
  const parts = [`realm="${origin}/v2/token"`, `service="${new URL(origin).host}"`];
  const scope = scopeOf(ctx, address);
  if (scope !== null) parts.push(`scope="${scope}"`);
  if (error !== undefined) parts.push(`error="${error}"`);
  return `Bearer ${parts.join(',')}`;
}

export const ociErrors = (address: OciAddress | null): PackageErrorFormat => ({
  status: new Map([['package_manifest_blob_missing', 400]]),
  body: ({ reason, message }, status) => {
    const code = codeOfReason[reason] ?? codeOfStatus[status] ?? 'UNKNOWN';
    return {
      type: 'application/json; charset=utf-8',
      text: JSON.stringify({ errors: [{ code, message, detail: { reason } }] }),
    };
  },
  headers: (ctx, { reason }, status): Record<string, string> =>
    status === 401
      ? {
          'WWW-Authenticate': challenge(
            ctx,
            address,
            reason === 'package_token_scope' ? 'insufficient_scope' : undefined,
          ),
        }
      : {},
});
