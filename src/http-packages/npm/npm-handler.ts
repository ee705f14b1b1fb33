import type { Context } from '../../http/index.ts';
import { HttpError } from '../../http/index.ts';
import { anonymous } from '../../access/index.ts';
import { unauthenticated } from '../../kernel/index.ts';
import { versionNotFound } from '../../packages/index.ts';
import type { PackageAt } from '../../packages/index.ts';
import { authenticate, viewerOfSecret } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import type { PackageProtocol, PackageRequest } from '../protocol.ts';
import { discardContent, readJsonBody, sendContent, sendJson } from '../transfer.ts';
import { isTag, parseName, readPackument, tarballName } from './npm-metadata.ts';
import { sendPackument, sendVersion } from './packument.ts';
import { changePackument, publish, unpublishAll } from './publish.ts';

/**
 * The registry protocol of npm, pnpm, yarn and bun: packuments, tarballs, publishing, tags, deprecation, unpublishing,
 * search, and an audit that reports no vulnerabilities.
 */
export const npmProtocol: PackageProtocol = {
  format: 'npm',
  errors: {
    // npm retries after a conflict, with its own merge.
    status: new Map([
      ['package_version_exists', 403],
      ['package_revision', 409],
    ]),
    body: ({ message, reason }) => ({
      type: 'application/json',
      text: JSON.stringify({ error: message, reason: message, code: reason }),
    }),
  },
  async serve(deps, ctx, request) {
    const parts = request.parts.flatMap((part) => part.split('/')).filter((part) => part !== '');
    if (parts[0] === '-') return serveSpecial(deps, ctx, request, parts.slice(1));
    const length = parts[0]?.startsWith('@') === true ? 2 : 1;
    const name = parts.slice(0, length).join('/');
    if (name === '') return sendJson(ctx, { db_name: 'registry' });
    return servePackage(deps, ctx, request, {
      at: { owner: request.owner, format: 'npm', name },
      rest: parts.slice(length),
    });
  },
};

const isRead = ({ method }: Context): boolean => method === 'GET' || method === 'HEAD';
const wrongMethod = () => new HttpError(405, 'This URL does not accept this request method.');

async function servePackage(
  deps: PackageHttpDeps,
  ctx: Context,
  { base }: PackageRequest,
  { at, rest }: { at: PackageAt; rest: readonly string[] },
): Promise<void> {
  const [first, second, third, fourth] = rest;
  if (rest.length === 0 && isRead(ctx)) return sendPackument(deps, ctx, at, base);
  if (rest.length === 0 && ctx.method === 'PUT') return publish(deps, ctx, at);
  if (first === '-rev' && second !== undefined) {
    if (ctx.method === 'PUT') return changePackument(deps, ctx, at, second);
    if (ctx.method === 'DELETE') return unpublishAll(deps, ctx, at, second);
    throw wrongMethod();
  }
  if (first === '-' && second !== undefined) {
    if (isRead(ctx) && rest.length === 2) return sendTarball(deps, ctx, at, second);
    // The change of the packument that npm sends first has already removed the version.
    if (ctx.method === 'DELETE' && third === '-rev' && fourth !== undefined) return acknowledge(deps, ctx, at);
    throw wrongMethod();
  }
  if (rest.length === 1 && first !== undefined && isRead(ctx)) return sendVersion(deps, ctx, at, base, first);
  throw versionNotFound();
}

async function acknowledge(deps: PackageHttpDeps, ctx: Context, at: PackageAt): Promise<void> {
  await deps.packages.find(await authenticate(deps, ctx), at, 'delete');
  sendJson(ctx, { ok: true });
}

async function sendTarball(deps: PackageHttpDeps, ctx: Context, at: PackageAt, fileName: string): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), at);
  const prefix = tarballName(at.name, '').replace(/\.tgz$/, '');
  if (!fileName.startsWith(prefix) || !fileName.endsWith('.tgz')) throw versionNotFound();
  const version = await packages.versions.find(found, fileName.slice(prefix.length, -4));
  const file = await packages.files.find(version.id, 'package.tgz');
  if (ctx.method === 'GET') packages.versions.countDownload(version.id);
  await sendContent(deps, ctx, { ...file, type: 'application/octet-stream', etag: `"${file.sha256}"` });
}

/** Paths below `-/`. */
async function serveSpecial(
  deps: PackageHttpDeps,
  ctx: Context,
  request: PackageRequest,
  parts: readonly string[],
): Promise<void> {
  const path = parts.join('/');
  if (path === 'ping') return sendJson(ctx, {});
  if (path === 'whoami') return sendWhoami(deps, ctx);
  if (path === 'v1/search') return sendSearch(deps, ctx, request);
  if (path.startsWith('user/org.couchdb.user:') && ctx.method === 'PUT') return signIn(deps, ctx);
  if (path.startsWith('user/token/') && ctx.method === 'DELETE') return sendJson(ctx, { ok: true });
  if (path === 'npm/v1/security/advisories/bulk' || path.startsWith('npm/v1/security/audits'))
    return sendAudit(ctx, path);
  if (parts[0] === 'package') return serveTags(deps, ctx, request, parts.slice(1));
  throw versionNotFound();
}

async function sendWhoami(deps: PackageHttpDeps, ctx: Context): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  if (viewer.kind === 'anonymous') throw unauthenticated('credentials_needed', 'Authentication required.');
  sendJson(ctx, { username: viewer.kind === 'person' ? viewer.username : 'ci' });
}

/** `npm login --auth-type=legacy`, with an access token as the password: npm stores the token itself. */
async function signIn(deps: PackageHttpDeps, ctx: Context): Promise<void> {
  const { password } = await readJsonBody(ctx, 65_536);
  const secret = typeof password === 'string' ? password : '';
  const viewer = (await viewerOfSecret(deps, ctx, secret)) ?? anonymous;
  if (viewer.kind !== 'person')
    throw unauthenticated('bad_credentials', 'Use an access token of the settings of your account as the password.');
  ctx.state.showsSecret = true;
  sendJson(ctx, { ok: true, id: `org.couchdb.user:${viewer.username}`, token: secret }, { status: 201 });
}

/** This server has no data about vulnerabilities, which is not a failure. */
async function sendAudit(ctx: Context, path: string): Promise<void> {
  discardContent(ctx);
  if (path.endsWith('/bulk')) return sendJson(ctx, {});
  const vulnerabilities = { info: 0, low: 0, moderate: 0, high: 0, critical: 0 };
  const counts = { dependencies: 0, devDependencies: 0, optionalDependencies: 0, totalDependencies: 0 };
  sendJson(ctx, { actions: [], advisories: {}, muted: [], metadata: { vulnerabilities, ...counts } });
}

async function sendSearch(deps: PackageHttpDeps, ctx: Context, { owner: handle }: PackageRequest): Promise<void> {
  const { packages, owners } = deps;
  const viewer = await authenticate(deps, ctx);
  const owner = await owners.resolve(handle);
  const query = new URLSearchParams(ctx.querystring);
  const number = (name: string, otherwise: number): number =>
    /^\d{1,6}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : otherwise;
  const filter = { ownerId: owner?.id ?? '', format: 'npm', query: (query.get('text') ?? '').slice(0, 200) } as const;
  const rows = await packages.list(viewer, {
    ...filter,
    limit: Math.min(number('size', 20), 250),
    offset: number('from', 0),
  });
  const objects = [];
  for (const row of rows) {
    const [newest] = await packages.versions.page({ package: row }, { limit: 1 });
    if (newest === undefined) continue;
    const { manifest } = readPackument(newest);
    const date = new Date(newest.createdAt).toISOString();
    const shown = {
      name: row.name,
      version: newest.version,
      description: manifest['description'] ?? '',
      date,
      links: {},
      maintainers: [],
    };
    objects.push({
      package: shown,
      score: { final: 1, detail: { quality: 1, popularity: 1, maintenance: 1 } },
      searchScore: 1,
    });
  }
  sendJson(ctx, {
    objects,
    total: await packages.count(viewer, filter),
    time: new Date(deps.clock.now()).toISOString(),
  });
}

/** `-/package/{name}/dist-tags` and below. */
async function serveTags(
  deps: PackageHttpDeps,
  ctx: Context,
  { owner }: PackageRequest,
  parts: readonly string[],
): Promise<void> {
  const { packages } = deps;
  const length = parts[0]?.startsWith('@') === true ? 2 : 1;
  const [word, tag, ...more] = parts.slice(length);
  if (word !== 'dist-tags' || more.length > 0) throw versionNotFound();
  const at = { owner, format: 'npm', name: parseName(parts.slice(0, length).join('/')) } as const;
  const viewer = await authenticate(deps, ctx);
  if (tag === undefined) {
    if (!isRead(ctx)) throw wrongMethod();
    return sendJson(ctx, await packages.tags.byName(await packages.find(viewer, at)));
  }
  if (ctx.method === 'DELETE')
    await packages.tags.delete(viewer, await packages.find(viewer, at, 'publish'), tag, 'publish');
  else if (ctx.method === 'PUT' || ctx.method === 'POST') {
    const found = await packages.find(viewer, at, 'publish');
    const version: unknown = await readJsonBody(ctx, 65_536, 'any');
    if (typeof version !== 'string' || !isTag(tag)) throw versionNotFound();
    await packages.tags.move(viewer, found, tag, version);
  } else throw wrongMethod();
  sendJson(ctx, { ok: true }, { status: ctx.method === 'DELETE' ? 200 : 201 });
}
