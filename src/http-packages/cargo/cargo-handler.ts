import type { Context } from '../../http/index.ts';
import { HttpError } from '../../http/index.ts';
import { busy, createSemaphore, invalid, unauthenticated } from '../../kernel/index.ts';
import { packageNotFound, versionNotFound } from '../../packages/index.ts';
import type { FoundPackage, PackageVersionRow } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { compareVersions } from '../go/semantic-version.ts';
import type { PackageProtocol, PackageRequest } from '../protocol.ts';
import { isKnown, readSmallBody, sendContent, sendJson } from '../transfer.ts';
import { readCrate } from './read-crate.ts';
import type { CrateMetadata } from './read-crate.ts';

/**
 * A registry of crates with a sparse index (The Cargo Book, "Registry Index" and "Registry Web API"):
 * `sparse+https://host/packages/{owner}/cargo/` is the public index, to which cargo sends its token only to publish.
 * For private crates, `sparse+https://host/packages/{owner}/cargo/auth/` is an index to which it sends the token with
 * every request.
 */
export const cargoProtocol: PackageProtocol = {
  format: 'cargo',
  // Cargo treats a challenge as a failure, but looks up crates that may be absent.
  isAbsentToAnonymous: true,
  errors: {
    body: ({ message }) => ({ type: 'application/json', text: JSON.stringify({ errors: [{ detail: message }] }) }),
  },
  async serve(deps, ctx, request) {
    if (request.parts[0] === 'auth') return serveWithToken(deps, ctx, request);
    const { parts } = request;
    const [first = '', , , name = '', version = '', word = ''] = parts;
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (parts.join('/') === 'config.json' && isRead) return sendConfig(ctx, request);
    if (first !== 'api') return sendIndex(deps, ctx, request);
    const path = parts.slice(0, 3).join('/');
    if (path !== 'api/v1/crates') throw versionNotFound();
    if (name === '' && isRead) return search(deps, ctx, request);
    if (name === 'new' && ctx.method === 'PUT') return publish(deps, ctx, request);
    if (word === 'download' && isRead) return download(deps, ctx, request, name, version);
    if (word === 'yank' && ctx.method === 'DELETE') return yank(deps, ctx, request, { name, version, yanked: true });
    if (word === 'unyank' && ctx.method === 'PUT') return yank(deps, ctx, request, { name, version, yanked: false });
    if (version === 'owners') return isRead ? sendOwner(deps, ctx, request, name) : refuseOwners();
    throw new HttpError(405, 'This URL does not accept this request method.');
  },
};

function sendConfig(ctx: Context, { base }: PackageRequest): void {
  // Cargo appends the name and the version.
  const isForAll = !base.endsWith('/auth');
  sendJson(ctx, { dl: `${base}/api/v1/crates`, api: base, ...(isForAll ? {} : { 'auth-required': true }) });
}

async function serveWithToken(deps: PackageHttpDeps, ctx: Context, request: PackageRequest): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  if (viewer.kind === 'anonymous') throw unauthenticated('credentials_needed', 'Authentication required.');
  await cargoProtocol.serve(deps, ctx, { ...request, parts: request.parts.slice(1), base: `${request.base}/auth` });
}

/** Path of a crate in the index: `1/a`, `2/ab`, `3/a/abc`, `ab/cd/abcd`. */
function indexPath(name: string): string {
  const folded = name.toLowerCase();
  if (folded.length <= 2) return `${folded.length}/${folded}`;
  return folded.length === 3 ? `3/${folded[0]}/${folded}` : `${folded.slice(0, 2)}/${folded.slice(2, 4)}/${folded}`;
}

const crateOf = ({ metadata }: PackageVersionRow): CrateMetadata => JSON.parse(metadata) as CrateMetadata;

/** The file of a crate in the index: one line per version, oldest first. */
async function sendIndex(deps: PackageHttpDeps, ctx: Context, { owner, parts }: PackageRequest): Promise<void> {
  const { packages } = deps;
  const name = parts.at(-1) ?? '';
  const found = await packages.find(await authenticate(deps, ctx), { owner, format: 'cargo', name });
  if (parts.join('/') !== indexPath(name) || found.package.versions === 0) throw packageNotFound();
  const etag = `"${found.package.versions}-${found.package.updatedAt}"`;
  ctx.set({ ETag: etag, 'Cache-Control': 'private, no-cache' });
  if (isKnown(ctx, etag)) return;
  const [rows, files] = await Promise.all([packages.versions.all(found), packages.files.all(found)]);
  const digests = new Map(files.map((file) => [file.versionId, file.sha256]));
  const lines = rows.toReversed().map((row) => {
    const { index, yanked } = crateOf(row);
    return JSON.stringify({ ...index, cksum: digests.get(row.id), yanked, pubtime: pubtimeOf(row) });
  });
  ctx.body = `${lines.join('\n')}\n`;
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
}

/** Time format of the index: no fraction, always UTC. */
const pubtimeOf = ({ createdAt }: PackageVersionRow): string =>
  new Date(createdAt).toISOString().replace(/\.\d+Z$/, 'Z');

/** Cargo sends the crate in one body, which is held in memory. */
const maxPublishBytes = 64 * 1024 * 1024;
const publishing = createSemaphore({
  limit: 2,
  queue: 32,
  waitMs: 60_000,
  refusal: busy('packages_busy', 'Too many packages are being published. Please try again in a moment.', 5),
});

async function publish(deps: PackageHttpDeps, ctx: Context, { owner }: PackageRequest): Promise<void> {
  const { packages } = deps;
  const viewer = await authenticate(deps, ctx);
  if (viewer.kind === 'anonymous') throw unauthenticated('credentials_needed', 'Authentication required.');
  await packages.ownerForPublish(viewer, owner);
  await publishing.run(async () => {
    const { name, version, metadata, crate } = readCrate(await readSmallBody(ctx, maxPublishBytes, 600_000));
    const to = await packages.openForPublish(viewer, { owner, format: 'cargo', name });
    await packages.versions.refuseVersion(to, version);
    const blob = await packages.blobs.receive(to.owner.id, oneChunk(crate));
    const file = { name: `${name}-${version}.crate`, key: 'crate', ...blob, mediaType: 'application/gzip' };
    await packages.versions.publish(viewer, to, { version, metadata, files: [file], existing: 'refuse' });
  });
  sendJson(ctx, { warnings: { invalid_categories: [], invalid_badges: [], other: [] } });
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function download(
  deps: PackageHttpDeps,
  ctx: Context,
  { owner }: PackageRequest,
  name: string,
  version: string,
): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), { owner, format: 'cargo', name });
  const row = await packages.versions.find(found, packages.keyOfVersion('cargo', version));
  const file = await packages.files.find(row.id, 'crate');
  if (ctx.method === 'GET') packages.versions.countDownload(row.id);
  await sendContent(deps, ctx, { ...file, type: 'application/gzip', etag: `"${file.sha256}"` });
}

/** A yanked version remains available for existing lock files. */
async function yank(
  deps: PackageHttpDeps,
  ctx: Context,
  { owner }: PackageRequest,
  { name, version, yanked }: { name: string; version: string; yanked: boolean },
): Promise<void> {
  const { packages } = deps;
  const viewer = await authenticate(deps, ctx);
  const found: FoundPackage = await packages.find(viewer, { owner, format: 'cargo', name }, 'publish');
  const key = packages.keyOfVersion('cargo', version);
  await packages.versions.changeMetadata(viewer, found, key, (metadata) => ({ ...metadata, yanked }));
  sendJson(ctx, { ok: true });
}

/** The owner of a crate is the one in the URL; other publishers are not listed per crate. */
async function sendOwner(deps: PackageHttpDeps, ctx: Context, { owner }: PackageRequest, name: string): Promise<void> {
  const found = await deps.packages.find(await authenticate(deps, ctx), { owner, format: 'cargo', name });
  // Cargo parses it as 32 bits.
  const id = Number.parseInt(found.owner.id.slice(-8), 16);
  sendJson(ctx, { users: [{ id, login: found.owner.handle, name: null }] });
}

function refuseOwners(): never {
  throw new HttpError(
    405,
    'A crate has no list of owners here: the members of its organisation publish it, or who writes to the repository that it follows.',
  );
}

/** The highest version; a yanked one only if all are yanked. */
function maxVersionOf(rows: readonly PackageVersionRow[]): PackageVersionRow | undefined {
  const kept = rows.filter((row) => !crateOf(row).yanked);
  const candidates = kept.length > 0 ? kept : rows;
  return candidates.toSorted((one, other) => compareVersions(`v${other.version}`, `v${one.version}`))[0];
}

async function search(deps: PackageHttpDeps, ctx: Context, { owner: handle }: PackageRequest): Promise<void> {
  const { packages } = deps;
  const viewer = await authenticate(deps, ctx);
  const owner = await deps.owners.resolve(handle);
  const query = new URLSearchParams(ctx.querystring);
  const size = query.get('per_page') ?? '10';
  if (!/^\d{1,3}$/.test(size)) throw invalid('package_query', 'The number of a page has at most three digits.');
  const filter = { ownerId: owner?.id ?? '', format: 'cargo', query: (query.get('q') ?? '').slice(0, 200) } as const;
  const crates = [];
  for (const row of await packages.list(viewer, { ...filter, limit: Math.min(Number(size), 100) })) {
    const max = maxVersionOf(await packages.versions.all({ package: row }));
    if (max !== undefined)
      crates.push({ name: row.name, max_version: max.version, description: crateOf(max).description });
  }
  sendJson(ctx, { crates, meta: { total: await packages.count(viewer, filter) } });
}
