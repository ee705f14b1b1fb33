import type { Viewer } from '../../access/index.ts';
import type { Context } from '../../http/index.ts';
import { busy, conflict, createSemaphore, invalid } from '../../kernel/index.ts';
import { formatOf } from '../../packages/index.ts';
import type { FoundPackage, PackageAt, PackageVersionRow } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { readJsonBody, sendJson } from '../transfer.ts';
import { hasShrinkwrap } from './find-shrinkwrap.ts';
import { isTag, readPackument, revisionOf, tarballName } from './npm-metadata.ts';

/** npm sends the tarball as base64 inside JSON, which is held in memory. */
const maxPublishBytes = 96 * 1024 * 1024;
const publishing = createSemaphore({
  limit: 2,
  queue: 32,
  waitMs: 60_000,
  refusal: busy('packages_busy', 'Too many packages are being published. Please try again in a moment.', 5),
});

const malformed = (message: string) => invalid('package_metadata', message);
type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const maxReadmeCharacters = 200_000;

/** `PUT` of a packument: a version with its tarball, or deprecation messages. */
export async function publish(deps: PackageHttpDeps, ctx: Context, at: PackageAt): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  const to = await deps.packages.openForPublish(viewer, at);
  await publishing.run(async () => {
    const body = await readJsonBody(ctx, maxPublishBytes);
    const attachments = isObject(body['_attachments']) ? Object.entries(body['_attachments']) : [];
    if (attachments.length === 0) return deprecate(deps, viewer, at, body);
    const { version, metadata, tarball, dist } = readVersion(at.name, body, attachments);
    await deps.packages.versions.refuseVersion(to, version);
    const blob = await deps.packages.blobs.receive(to.owner.id, oneChunk(tarball));
    const integrity = `sha512-${Buffer.from(blob.hashes.sha512, 'hex').toString('base64')}`;
    const isOther =
      (typeof dist['integrity'] === 'string' && !dist['integrity'].split(/\s+/).includes(integrity)) ||
      (typeof dist['shasum'] === 'string' && dist['shasum'] !== blob.hashes.sha1);
    if (isOther) throw malformed('The tarball that arrived does not have the announced checksum.');
    const manifest = { ...metadata.manifest, _hasShrinkwrap: await hasShrinkwrap(tarball) };
    await deps.packages.versions.publish(viewer, to, {
      version,
      metadata: { ...metadata, manifest },
      files: [
        { name: tarballName(at.name, version), key: 'package.tgz', ...blob, mediaType: 'application/octet-stream' },
      ],
      tags: tagsIn(body, version),
      existing: 'refuse',
    });
  });
  sendJson(ctx, { ok: true, id: at.name }, { status: 201 });
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Throws `package_metadata`, `invalid_package_version`. */
function readVersion(name: string, body: Json, attachments: readonly [string, unknown][]) {
  const versions = isObject(body['versions']) ? Object.values(body['versions']) : [];
  const [manifest] = versions;
  const [, attachment] = attachments[0]!;
  if (versions.length !== 1 || !isObject(manifest) || attachments.length !== 1 || !isObject(attachment))
    throw malformed('One version with one tarball is published at a time.');
  const { name: own, version, dist, readme, ...rest } = manifest;
  if (own !== name || body['name'] !== name) throw malformed(`This is ${String(own)}, not ${name}.`);
  if (typeof version !== 'string') throw malformed('This version has no number.');
  formatOf('npm').versionKey(version);
  const { data } = attachment;
  if (typeof data !== 'string') throw malformed('The tarball is missing.');
  const tarball = Buffer.from(data, 'base64');
  if (attachment['length'] !== undefined && attachment['length'] !== tarball.length)
    throw malformed('The tarball that arrived does not have the announced length.');
  const text = typeof body['readme'] === 'string' ? body['readme'] : typeof readme === 'string' ? readme : '';
  const metadata = {
    manifest: { ...rest, name, version },
    readme: text.slice(0, maxReadmeCharacters),
    deprecated: null,
  };
  return { version, metadata, tarball, dist: isObject(dist) ? dist : {} };
}

function tagsIn(body: Json, version: string): string[] {
  const tags = isObject(body['dist-tags']) ? Object.entries(body['dist-tags']) : [];
  const named = tags.filter(([name, of]) => of === version && isTag(name)).map(([name]) => name);
  return named.length === 0 ? ['latest'] : named;
}

/** `npm deprecate`: the client sends the packument with messages for some versions; an empty message removes one. */
async function deprecate(deps: PackageHttpDeps, viewer: Viewer, at: PackageAt, body: Json): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(viewer, at, 'publish');
  const sent = isObject(body['versions']) ? body['versions'] : {};
  for (const row of await packages.versions.all(found)) {
    const manifest = sent[row.version];
    if (!isObject(manifest)) continue;
    const words =
      typeof manifest['deprecated'] === 'string' && manifest['deprecated'] !== ''
        ? manifest['deprecated'].slice(0, 1_000)
        : null;
    if (words === readPackument(row).deprecated) continue;
    await packages.versions.changeMetadata(viewer, found, row.versionKey, (metadata) => ({
      ...metadata,
      deprecated: words,
    }));
  }
}

/** Throws `package_revision` if the package has changed since the client read it. */
function requireRevision(found: FoundPackage, revision: string): void {
  if (revision !== revisionOf(found)) throw conflict('package_revision', 'This package has changed. Try again.');
}

/** `npm unpublish name@version`: the client sends the packument without the versions to delete. */
export async function changePackument(
  deps: PackageHttpDeps,
  ctx: Context,
  at: PackageAt,
  revision: string,
): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  const found = await deps.packages.find(viewer, at, 'delete');
  const body = await publishing.run(() => readJsonBody(ctx, maxPublishBytes));
  requireRevision(found, revision);
  if (!isObject(body['versions'])) throw malformed('This packument has no versions.');
  const kept = body['versions'];
  const tags = isObject(body['dist-tags']) ? body['dist-tags'] : {};
  for (const row of await deps.packages.versions.all(found))
    if (!Object.hasOwn(kept, row.version)) await deps.packages.versions.delete(viewer, found, row);
  for (const [tag, version] of Object.entries(tags))
    if (typeof version === 'string' && isTag(tag) && Object.hasOwn(kept, version))
      await deps.packages.tags.move(viewer, found, tag, version);
  sendJson(ctx, { ok: true, id: at.name }, { status: 201 });
}

/** `npm unpublish --force`: moves all versions to the trash. */
export async function unpublishAll(
  deps: PackageHttpDeps,
  ctx: Context,
  at: PackageAt,
  revision: string,
): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  const found = await deps.packages.find(viewer, at, 'delete');
  requireRevision(found, revision);
  const rows: PackageVersionRow[] = await deps.packages.versions.all(found);
  for (const row of rows) await deps.packages.versions.delete(viewer, found, row);
  sendJson(ctx, { ok: true });
}
