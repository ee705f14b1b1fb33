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

/** Every format that has its address below `/packages/{owner}/`; container images are at `/v2/`. */
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
  /** Below `/packages/` and, as Gitea has it, `/api/packages/`. */
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

/** Also where a path was refused before the client was asked to sign in. Refuses `bad_credentials`. */
const isAnonymous = async (deps: PackageHttpDeps, ctx: Context): Promise<boolean> =>
  ctx.state.identity.viewer.kind === 'anonymous' && (await authenticate(deps, ctx)).kind === 'anonymous';

/** Refuses `package_not_found` for a path that does not decode. */
function readRequest(ctx: Context, owner: string, rest: string, base: string): PackageRequest {
  try {
    const parts = rest.split('/').map((part) => decodeURIComponent(part));
    if (parts.some((part) => part.includes('\0'))) throw packageNotFound();
    return { owner: decodeURIComponent(owner), parts, rest, base: `${ctx.state.origin}${base}` };
  } catch {
    throw packageNotFound();
  }
}

/** To an anonymous client a private package and an absent one are the same challenge, on every path. */
function challengeOf(error: unknown): unknown {
  const { reason } = error as { reason?: unknown };
  return reason === 'package_not_found' || reason === 'package_denied'
    ? unauthenticated('credentials_needed', 'Authentication required.')
    : error;
}
