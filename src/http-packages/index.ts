import type { Context, Middleware } from '../http/index.ts';
import { unauthenticated } from '../kernel/index.ts';
import { packageNotFound } from '../packages/index.ts';
import { authenticate } from './authenticate.ts';
import type { PackageHttpDeps } from './deps.ts';
import { withPackageErrors } from './errors.ts';
import { cargoProtocol } from './cargo/cargo-handler.ts';
import { goProtocol } from './go/go-handler.ts';
import { genericProtocol } from './generic/generic-handler.ts';
import { mavenProtocol } from './maven/maven-handler.ts';
import { npmProtocol } from './npm/npm-handler.ts';
import { createOciHandler } from './oci/oci-handler.ts';
import { pypiProtocol } from './pypi/pypi-handler.ts';
import type { PackageProtocol, PackageRequest } from './protocol.ts';

export { isImageConfig } from './oci/publish-manifest.ts';
export type { ManifestMetadata } from './oci/publish-manifest.ts';

/** Every format with a URL below `/packages/{owner}/`; container images are at `/v2/`. */
const protocols: readonly PackageProtocol[] = [
  genericProtocol,
  npmProtocol,
  pypiProtocol,
  cargoProtocol,
  mavenProtocol,
  goProtocol,
];

export interface PackageHandlers {
  oci: Middleware;
  /** Below `/packages/` and, as in Gitea, `/api/packages/`. */
  registry: Middleware;
}

export function createPackageHandlers(deps: PackageHttpDeps): PackageHandlers {
  const byName = new Map<string, PackageProtocol>(protocols.map((protocol) => [protocol.format, protocol]));
  return {
    oci: createOciHandler(deps),
    registry: async (ctx, next) => {
      const [, base, owner, format = '', rest = ''] =
        /^((?:\/api)?\/packages\/([^/]+)\/([a-z]+))(?:\/(.*))?$/.exec(ctx.path) ?? [];
      const protocol = byName.get(format);
      if (protocol === undefined || owner === undefined) return next();
      await withPackageErrors(ctx, deps.logger, protocol.errors, async () => {
        try {
          await protocol.serve(deps, ctx, readRequest(ctx, owner, rest, base!));
        } catch (error) {
          if (protocol.isAbsentToAnonymous === true) throw error;
          throw (await isAnonymous(deps, ctx)) ? challengeOf(error) : error;
        }
      });
      return undefined;
    },
  };
}

/** Also called if a path was refused before authentication. Throws `bad_credentials`. */
const isAnonymous = async (deps: PackageHttpDeps, ctx: Context): Promise<boolean> =>
  ctx.state.identity.viewer.kind === 'anonymous' && (await authenticate(deps, ctx)).kind === 'anonymous';

/** Throws `package_not_found` for a path that cannot be decoded. */
function readRequest(ctx: Context, owner: string, rest: string, base: string): PackageRequest {
  try {
    const parts = rest.split('/').map((part) => decodeURIComponent(part));
    if (parts.some((part) => part.includes('\0'))) throw packageNotFound();
    return { owner: decodeURIComponent(owner), parts, rest, base: `${ctx.state.origin}${base}` };
  } catch {
    throw packageNotFound();
  }
}

/** Anonymous clients get the same challenge for private and absent packages, on every path. */
function challengeOf(error: unknown): unknown {
  const { reason } = error as { reason?: unknown };
  return reason === 'package_not_found' || reason === 'package_denied'
    ? unauthenticated('credentials_needed', 'Authentication required.')
    : error;
}
