import type { Readable } from 'node:stream';
import { HttpError } from '../../http/index.ts';
import type { Context } from '../../http/index.ts';
import { packageNotFound, packagesOff } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { plainErrors } from '../errors.ts';
import type { PackageProtocol, PackageRequest } from '../protocol.ts';
import { isKnown } from '../transfer.ts';
import { findModule, tagPrefix } from './find-module.ts';
import type { ModuleAt } from './find-module.ts';
import { isVersionQuery, unescapePath } from './module-path.ts';
import { findLatest, findModuleVersion, listVersions } from './module-versions.ts';
import type { ModuleVersion } from './module-versions.ts';
import { openModuleZip } from './module-zip.ts';
import { canonicalOfModule } from './semantic-version.ts';

/**
 * A proxy of Go modules (go.dev/ref/mod, "GOPROXY protocol") for the repositories of an owner, generated from their
 * tags: nothing is uploaded. It serves code, so a token needs the right to read code, not packages.
 */
export const goProtocol: PackageProtocol = {
  format: 'go',
  errors: plainErrors,
  // The go command requests a module for every folder of an import path, and continues only after 404.
  isAbsentToAnonymous: true,
  async serve(deps, ctx, request) {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
      throw new HttpError(405, 'Modules are made from the tags of repositories: push a tag instead.');
    const { settings } = deps.packages;
    if (!settings.enabled) throw packagesOff();
    const viewer = await authenticate(deps, ctx, 'code');
    const { path, asked } = readPath(request);
    const host = new URL(deps.config.baseUrl ?? ctx.state.origin).hostname;
    const module = await findModule(deps, viewer, { host, owner: request.owner, path });
    if (asked === '@v/list') return sendList(ctx, await listVersions(deps, module));
    if (asked === '@latest') return sendInfo(deps, ctx, module, await findLatest(deps, module));
    const [, version = '', kind = ''] = /^@v\/(.+)\.(info|mod|zip)$/.exec(asked) ?? [];
    if (!isVersionQuery(version)) throw packageNotFound();
    const found = await findModuleVersion(deps, module, version);
    if (kind === 'info') return sendInfo(deps, ctx, module, found);
    // Only a version is immutable and cacheable.
    if (found.version !== version || canonicalOfModule(version) !== version) throw packageNotFound();
    return kind === 'mod' ? sendGoMod(ctx, module, found) : sendZip(deps, ctx, module, found);
  },
};

/** Throws `package_not_found` for paths that the go command does not request. */
function readPath({ parts }: PackageRequest): { path: string; asked: string } {
  const at = parts.findIndex((part) => part === '@v' || part === '@latest');
  const path = unescapePath(parts.slice(0, Math.max(at, 0)).join('/'));
  const asked = unescapePath(parts.slice(at).join('/'));
  if (at < 1 || path === null || asked === null || parts.length - at > 2) throw packageNotFound();
  return { path, asked };
}

function send(ctx: Context, body: string | Buffer | Readable, type: string): void {
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.body = body;
  ctx.set('Content-Type', type);
}

const sendList = (ctx: Context, versions: readonly string[]): void =>
  send(ctx, versions.map((version) => `${version}\n`).join(''), 'text/plain; charset=utf-8');

function sendInfo(
  deps: Pick<PackageHttpDeps, 'config'>,
  ctx: Context,
  module: ModuleAt,
  { version, at, oid }: ModuleVersion,
): void {
  const { owner, name } = module.name;
  const url = `${deps.config.baseUrl ?? ctx.state.origin}/git/${owner}/${name}.git`;
  const subdirectory = tagPrefix(module).slice(0, -1);
  const origin = { VCS: 'git', URL: url, ...(subdirectory === '' ? {} : { Subdir: subdirectory }), Hash: oid };
  const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  send(ctx, JSON.stringify({ Version: version, Time: time, Origin: origin }), 'application/json');
}

/** A repository without a `go.mod` gets one that contains only its path. */
const sendGoMod = (ctx: Context, { path }: ModuleAt, { folder: { goMod } }: ModuleVersion): void =>
  send(ctx, goMod ?? `module ${path}\n`, 'text/plain; charset=utf-8');

async function sendZip(deps: PackageHttpDeps, ctx: Context, module: ModuleAt, found: ModuleVersion): Promise<void> {
  ctx.set({ ETag: `"${found.oid}"`, 'X-Content-Type-Options': 'nosniff' });
  if (isKnown(ctx, `"${found.oid}"`)) return;
  const zip = await openModuleZip(deps, module, found, ctx.state.address);
  ctx.res.setMaxListeners(20);
  if (ctx.method === 'HEAD') zip.destroy();
  send(ctx, ctx.method === 'HEAD' ? '' : zip, 'application/zip');
}
