import { anonymous } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Context } from '../../http/index.ts';
import { invalid, isDomainError, nullIfNotFound } from '../../kernel/index.ts';
import { blobMissing, readChunkRange, readDigest } from '../../packages/index.ts';
import type { Digest, PublishTarget } from '../../packages/index.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { lengthOf, receiveUpload, sendContent } from '../transfer.ts';
import { requireGranted } from './registry-token.ts';
import type { RegistryCaller } from './registry-token.ts';
import type { OciName } from './oci-address.ts';

// Blobs (Distribution Specification 1.1, "Pulling blobs", "Pushing blobs", "Deleting blobs").

export const fullName = ({ owner, name }: OciName): string => `${owner}/${name}`;

/** Throws `package_digest`. */
export function parseDigest(text: string): Digest {
  const digest = readDigest(text);
  if (digest === null) throw invalid('package_digest', 'A digest has the form sha256:… or sha512:… in lower-case hex.');
  return digest;
}

const textOf = ({ algorithm, hex }: Digest): string => `${algorithm}:${hex}`;

/** `GET` and `HEAD` of a blob. A check before a push keeps the blob for another day. */
export async function serveBlob(
  { packages, config }: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: OciName & { reference: string },
): Promise<void> {
  const digest = parseDigest(at.reference);
  const found = await packages.find(viewer, { ...at, format: 'oci' });
  const blob = await (ctx.method === 'HEAD' ? packages.blobs.renew(found, digest) : packages.blobs.find(found, digest));
  if (blob === null) throw blobMissing(at.reference);
  await sendContent({ packages, config }, ctx, {
    ...blob,
    type: 'application/octet-stream',
    etag: `"${at.reference}"`,
    headers: { 'Docker-Content-Digest': at.reference },
  });
}

export async function deleteBlob(
  { packages }: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: OciName & { reference: string },
): Promise<void> {
  const digest = parseDigest(at.reference);
  const found = await packages.find(viewer, { ...at, format: 'oci' }, 'delete');
  await packages.blobs.remove(found, digest);
  ctx.status = 202;
  ctx.body = '';
}

const target = ({ packages }: PackageHttpDeps, { viewer }: RegistryCaller, at: OciName): Promise<PublishTarget> =>
  packages.openForPublish(viewer, { ...at, format: 'oci' });

function created(ctx: Context, at: OciName, digest: string): void {
  ctx.status = 201;
  ctx.set({ Location: `/v2/${fullName(at)}/blobs/${digest}`, 'Docker-Content-Digest': digest });
  ctx.body = '';
}

function accepted(ctx: Context, at: OciName, id: string, bytes: number, status = 202): void {
  ctx.status = status;
  ctx.set({
    Location: `/v2/${fullName(at)}/blobs/uploads/${id}`,
    Range: `0-${Math.max(0, bytes - 1)}`,
    'Docker-Upload-UUID': id,
    'OCI-Chunk-Min-Length': '0',
  });
  ctx.body = '';
}

/** `POST` of an upload: begins one, accepts a whole blob, or mounts a blob from another name. */
export async function startUpload(
  deps: PackageHttpDeps,
  ctx: Context,
  caller: RegistryCaller,
  at: OciName,
): Promise<void> {
  const { packages } = deps;
  const to = await target(deps, caller, at);
  const query = new URLSearchParams(ctx.querystring);
  const mounted = query.get('mount');
  if (mounted !== null && (await mount(deps, caller, to, parseDigest(mounted), query.get('from')))) {
    created(ctx, at, mounted);
    return;
  }
  const whole = query.get('digest');
  if (whole !== null && mounted === null && lengthOf(ctx) !== null) {
    const digest = parseDigest(whole);
    await receiveUpload(ctx, caller.viewer, (content) => packages.blobs.upload(caller.viewer, to, digest, content));
    created(ctx, at, textOf(digest));
    return;
  }
  const { id } = await packages.uploads.begin(caller.viewer, to);
  accepted(ctx, at, id, 0);
}

/** A blob that the caller cannot read is not mounted, without an error: the client then uploads it. */
async function mount(
  deps: PackageHttpDeps,
  caller: RegistryCaller,
  to: PublishTarget,
  digest: Digest,
  from: string | null,
): Promise<boolean> {
  if (from !== null) return mountFrom(deps, caller, to, digest, from);
  for (const name of await deps.packages.blobs.imagesWith(to.owner.id, digest)) {
    const source = `${to.owner.handle}/${name}`;
    const isMounted = await mountFrom(deps, caller, to, digest, source).catch(falseWithoutScope);
    if (isMounted) return true;
  }
  return false;
}

const falseWithoutScope = (error: unknown): boolean => {
  if (isDomainError(error) && error.reason === 'package_token_scope') return false;
  throw error;
};

/**
 * Mounts a blob from a source that is public or covered by the caller's token. Otherwise refuses `package_token_scope`,
 * also if there is no such source, so that the client requests a token that names it.
 */
async function mountFrom(
  { packages }: PackageHttpDeps,
  caller: RegistryCaller,
  to: PublishTarget,
  digest: Digest,
  from: string,
): Promise<boolean> {
  const [, owner, name] = /^([^/]+)\/(.+)$/.exec(from) ?? [];
  if (owner === undefined || name === undefined) return false;
  const find = (viewer: Viewer) => packages.find(viewer, { owner, name, format: 'oci' }).catch(nullIfNotFound);
  let source = await find(anonymous);
  if (source === null) {
    requireGranted(caller, from, 'pull');
    source = await find(caller.viewer);
  }
  return source !== null && packages.blobs.mount(caller.viewer, to, source, digest);
}

type UploadAt = OciName & { reference: string };

/** `GET` of an upload: the number of received bytes. */
export async function showUpload(
  deps: PackageHttpDeps,
  ctx: Context,
  caller: RegistryCaller,
  at: UploadAt,
): Promise<void> {
  const { id, bytes } = await deps.packages.uploads.find(await target(deps, caller, at), at.reference);
  accepted(ctx, at, id, bytes, 204);
}

/** The range and length of a chunk; a stream without a range continues at the end. */
function chunkOf(ctx: Context): { first: number | null; bytes?: number } {
  const range = ctx.get('Content-Range');
  if (range === '') return { first: null };
  const { first, bytes } = readChunkRange(range);
  const length = lengthOf(ctx);
  if (length !== null && length !== bytes)
    throw invalid('package_chunk_range_form', `This chunk has ${length} bytes, not ${bytes}.`);
  return { first, bytes };
}

/** `PATCH` of an upload: the next chunk. */
export async function continueUpload(
  deps: PackageHttpDeps,
  ctx: Context,
  caller: RegistryCaller,
  at: UploadAt,
): Promise<void> {
  const to = await target(deps, caller, at);
  const upload = await deps.packages.uploads.find(to, at.reference);
  try {
    const bytes = await receiveUpload(ctx, caller.viewer, (content) =>
      deps.packages.uploads.receive(to, upload, { ...chunkOf(ctx), content }),
    );
    accepted(ctx, at, upload.id, bytes);
  } catch (error) {
    // Offset of the next chunk.
    if (isDomainError(error) && error.reason.startsWith('package_chunk_range')) {
      accepted(ctx, at, upload.id, (await deps.packages.uploads.find(to, upload.id)).bytes);
    }
    throw error;
  }
}

/** `PUT` of an upload: completes it, possibly with the last chunk. */
export async function endUpload(
  deps: PackageHttpDeps,
  ctx: Context,
  caller: RegistryCaller,
  at: UploadAt,
): Promise<void> {
  const { packages } = deps;
  const to = await target(deps, caller, at);
  const upload = await packages.uploads.find(to, at.reference);
  const digest = parseDigest(new URLSearchParams(ctx.querystring).get('digest') ?? '');
  await receiveUpload(ctx, caller.viewer, async (content) => {
    const length = lengthOf(ctx);
    const isEmpty = length === 0 || (length === null && ctx.get('Transfer-Encoding') === '');
    if (!isEmpty) await packages.uploads.receive(to, upload, { ...chunkOf(ctx), content });
    await packages.uploads.finish(caller.viewer, to, upload, digest);
  });
  created(ctx, at, textOf(digest));
}

/** `DELETE` of an upload. */
export async function endUploadEarly(
  deps: PackageHttpDeps,
  ctx: Context,
  caller: RegistryCaller,
  at: UploadAt,
): Promise<void> {
  const upload = await deps.packages.uploads.find(await target(deps, caller, at), at.reference);
  await deps.packages.uploads.cancel(upload);
  ctx.status = 204;
}
