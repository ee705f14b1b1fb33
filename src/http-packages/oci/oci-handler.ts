import type { Context, Middleware } from '../../http/index.ts';
import { HttpError } from '../../http/index.ts';
import { unauthenticated } from '../../kernel/index.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { withPackageErrors } from '../errors.ts';
import { sendJson } from '../transfer.ts';
import {
  continueUpload,
  deleteBlob,
  endUpload,
  endUploadEarly,
  fullName,
  serveBlob,
  showUpload,
  startUpload,
} from './blob-handlers.ts';
import {
  deleteManifest,
  linkNext,
  readPage,
  receiveManifest,
  serveManifest,
  serveReferrers,
  serveTags,
} from './manifest-handlers.ts';
import { readOciAddress } from './oci-address.ts';
import type { OciAddress } from './oci-address.ts';
import { ociErrors } from './oci-errors.ts';
import { identifyCaller, requireGranted, serveToken } from './registry-token.ts';
import type { RegistryCaller } from './registry-token.ts';

type Serve = (deps: PackageHttpDeps, ctx: Context, caller: RegistryCaller, at: never) => Promise<void>;

const handlers: Readonly<Record<Exclude<OciAddress['kind'], 'ping' | 'catalogue'>, Readonly<Record<string, Serve>>>> = {
  tags: { GET: serveTags },
  referrers: { GET: serveReferrers },
  manifest: { GET: serveManifest, PUT: receiveManifest, DELETE: deleteManifest },
  blob: { GET: serveBlob, DELETE: deleteBlob },
  uploads: { POST: startUpload },
  upload: { GET: showUpload, PATCH: continueUpload, PUT: endUpload, DELETE: endUploadEarly },
};

/** The registry of container images and other artifacts at `/v2/` (Distribution Specification 1.1). */
export function createOciHandler(deps: PackageHttpDeps): Middleware {
  return async (ctx, next) => {
    const isToken = ctx.path === '/v2/token';
    const address = readOciAddress(ctx.path);
    // A page of an owner called `v2`.
    if (address === null && !isToken) return next();
    ctx.set('Docker-Distribution-Api-Version', 'registry/2.0');
    await withPackageErrors(ctx, deps.logger, ociErrors(address), () =>
      address === null ? serveToken(deps, ctx) : serve(deps, ctx, address),
    );
    return undefined;
  };
}

async function serve(deps: PackageHttpDeps, ctx: Context, address: OciAddress): Promise<void> {
  const caller = await identifyCaller(deps, ctx);
  if (address.kind === 'ping') {
    // The response tells clients to authenticate; any token, even an anonymous one, is enough.
    if (ctx.get('Authorization') === '') throw signIn();
    sendJson(ctx, {});
    return;
  }
  if (address.kind === 'catalogue') return serveCatalogue(deps, ctx, caller);
  const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  const handle = handlers[address.kind][method];
  if (handle === undefined)
    throw new HttpError(405, 'This URL does not accept this request method.', {
      Allow: Object.keys(handlers[address.kind]).join(', '),
    });
  requireGranted(
    caller,
    fullName(address),
    method === 'GET' && address.kind !== 'upload'
      ? 'pull'
      : method === 'DELETE' && address.kind !== 'upload'
        ? 'delete'
        : 'push',
  );
  try {
    await handle(deps, ctx, caller, address as never);
  } catch (error) {
    throw caller.viewer.kind === 'anonymous' ? challengeOf(error) : error;
  }
}

const signIn = () => unauthenticated('credentials_needed', 'Authentication required.');

/** Anonymous clients get the same challenge for private and absent packages. */
function challengeOf(error: unknown): unknown {
  const reason = (error as { reason?: unknown }).reason;
  return reason === 'package_not_found' || reason === 'package_denied' ? signIn() : error;
}

/** The names that the caller can pull. */
async function serveCatalogue({ packages }: PackageHttpDeps, ctx: Context, caller: RegistryCaller): Promise<void> {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw new HttpError(405, 'This address accepts only GET.');
  requireGranted(caller, '', 'catalog');
  const page = readPage(ctx);
  const names =
    page.n === 0 ? [] : await packages.catalogue(caller.viewer, 'oci', { after: page.last, limit: page.n + 1 });
  sendJson(ctx, { repositories: linkNext(ctx, '/v2/_catalog', page, names) });
}
