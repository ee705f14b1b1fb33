import { createHash } from 'node:crypto';
import type { Context } from '../../http/index.ts';
import { invalid, nullIfNotFound } from '../../kernel/index.ts';
import { packageNotFound, readDigest, versionNotFound } from '../../packages/index.ts';
import type { Digest, FoundPackage, PackageVersionRow } from '../../packages/index.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { readSmallBody, sendContent, sendJson } from '../transfer.ts';
import { fullName, parseDigest } from './blob-handlers.ts';
import { publishManifest } from './publish-manifest.ts';
import type { ManifestMetadata } from './publish-manifest.ts';
import { badQuery } from './registry-token.ts';
import type { RegistryCaller } from './registry-token.ts';
import type { OciName } from './oci-address.ts';

// Manifests, tags and referrers (Distribution Specification 1.1).

type At = OciName & { reference: string };

/** The size that the specification guarantees to clients. */
const maxManifestBytes = 4 * 1024 * 1024;

const tagShape = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** Throws `package_tag`. */
function parseTag(text: string): string {
  if (!tagShape.test(text))
    throw invalid(
      'package_tag',
      'A tag has at most 128 letters, digits, ".", "_" and "-", and begins with none of the last two.',
    );
  return text;
}

function versionOf({ packages }: PackageHttpDeps, found: FoundPackage, reference: string): Promise<PackageVersionRow> {
  if (reference.includes(':')) return packages.versions.find(found, reference);
  if (!tagShape.test(reference)) throw versionNotFound();
  return packages.versions.ofTag(found, reference);
}

/** `GET` and `HEAD` of a manifest, by tag or digest. */
export async function serveManifest(
  deps: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: At,
): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(viewer, { ...at, format: 'oci' });
  const version = await versionOf(deps, found, at.reference);
  const { mediaType } = JSON.parse(version.metadata) as ManifestMetadata;
  const file = await packages.files.find(version.id, 'manifest');
  if (ctx.method === 'GET') packages.versions.countDownload(version.id);
  await sendContent(deps, ctx, {
    ...file,
    type: mediaType,
    etag: `"${version.version}"`,
    headers: { 'Docker-Content-Digest': version.version },
  });
}

/** `PUT` of a manifest, by tag or digest. */
export async function receiveManifest(
  deps: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: At,
): Promise<void> {
  const to = await deps.packages.openForPublish(viewer, { ...at, format: 'oci' });
  const named = at.reference.includes(':') ? parseDigest(at.reference) : null;
  const query = new URLSearchParams(ctx.querystring);
  const tags = [
    ...(named === null ? [parseTag(at.reference)] : []),
    ...query.getAll('tag').slice(0, 100).map(parseTag),
  ];
  const asked = query.get('digest');
  const length = Number(ctx.req.headers['content-length'] ?? 0);
  const tooLarge = () =>
    invalid('package_manifest_too_large', `A manifest can have at most ${maxManifestBytes} bytes.`);
  if (length > maxManifestBytes) throw tooLarge();
  const bytes = await readSmallBody(ctx, maxManifestBytes);
  const digest = digestOf(bytes, named ?? (asked === null ? null : parseDigest(asked)));
  const { subject } = await publishManifest(deps, viewer, to, {
    bytes,
    digest,
    tags,
    contentType: ctx.get('Content-Type'),
    origin: ctx.state.origin,
  });
  ctx.status = 201;
  ctx.set({ Location: `/v2/${fullName(at)}/manifests/${digest}`, 'Docker-Content-Digest': digest });
  if (subject !== null) ctx.set('OCI-Subject', subject);
  for (const tag of query.getAll('tag')) ctx.append('OCI-Tag', tag);
  ctx.body = '';
}

/** Throws `package_digest` if the bytes do not match the digest. */
function digestOf(bytes: Buffer, named: Digest | null): string {
  const algorithm = named?.algorithm ?? 'sha256';
  const hex = createHash(algorithm).update(bytes).digest('hex');
  if (named !== null && named.hex !== hex)
    throw invalid('package_digest', 'The manifest that arrived does not have the announced digest.');
  return `${algorithm}:${hex}`;
}

/** `DELETE` of a manifest by digest, or of a tag. */
export async function deleteManifest(
  deps: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: At,
): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(viewer, { ...at, format: 'oci' }, 'delete');
  if (at.reference.includes(':')) {
    await packages.versions.delete(viewer, found, await packages.versions.find(found, at.reference));
  } else await packages.tags.delete(viewer, found, at.reference);
  ctx.status = 202;
  ctx.body = '';
}

const maxPage = 1_000;

/** Throws `package_query`. */
export function readPage(ctx: Context): { n: number; last: string } {
  const query = new URLSearchParams(ctx.querystring);
  const n = query.get('n') ?? String(maxPage);
  if (!/^\d{1,9}$/.test(n)) throw badQuery('n');
  return { n: Math.min(Number(n), maxPage), last: query.get('last') ?? '' };
}

/** Links to the next page, if any; `items` then has one item more than a page. */
export function linkNext(ctx: Context, path: string, { n }: { n: number }, items: readonly string[]): string[] {
  const shown = items.slice(0, n);
  if (items.length > n && n > 0) {
    const next = new URLSearchParams({ n: String(n), last: shown.at(-1)! });
    ctx.set('Link', `<${path}?${next}>; rel="next"`);
  }
  return shown;
}

/** `GET` of the tags, sorted by name. */
export async function serveTags(
  { packages }: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: OciName,
): Promise<void> {
  const page = readPage(ctx);
  const found = await packages.find(viewer, { ...at, format: 'oci' });
  // A package that has only an unfinished upload counts as absent.
  if (found.package.versions === 0) throw packageNotFound();
  const rows = page.n === 0 ? [] : await packages.tags.list(found, { after: page.last, limit: page.n + 1 });
  const names = rows.map((row) => row.name);
  sendJson(ctx, { name: fullName(at), tags: linkNext(ctx, `/v2/${fullName(at)}/tags/list`, page, names) });
}

/** `GET` of the referrers of a manifest, as an index; empty if there are none, or the package is hidden or absent. */
export async function serveReferrers(
  deps: PackageHttpDeps,
  ctx: Context,
  { viewer }: RegistryCaller,
  at: At,
): Promise<void> {
  const { packages } = deps;
  if (readDigest(at.reference) === null) throw parseDigestError();
  const found = await packages.find(viewer, { ...at, format: 'oci' }).catch(nullIfNotFound);
  if (found === null && viewer.kind === 'anonymous') throw packageNotFound();
  const wanted = new URLSearchParams(ctx.querystring).get('artifactType');
  const rows = found === null ? [] : await packages.versions.referrers(found, at.reference);
  const manifests = rows.map(({ version, metadata }) => {
    const { mediaType, size, artifactType, annotations } = JSON.parse(metadata) as ManifestMetadata;
    return {
      mediaType,
      digest: version,
      size,
      ...(artifactType === null ? {} : { artifactType }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    };
  });
  if (wanted !== null) ctx.set('OCI-Filters-Applied', 'artifactType');
  sendJson(
    ctx,
    {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: wanted === null ? manifests : manifests.filter(({ artifactType }) => artifactType === wanted),
    },
    { type: 'application/vnd.oci.image.index.v1+json' },
  );
}

const parseDigestError = () => invalid('package_digest', 'Referrers require the digest of a manifest.');
