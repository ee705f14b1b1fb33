import type { Context } from '../http/index.ts';
import type { FormatName } from '../packages/index.ts';
import type { PackageHttpDeps } from './deps.ts';
import type { PackageErrorFormat } from './errors.ts';

/** The target of a request below `/packages/{owner}/{format}/`. */
export interface PackageRequest {
  owner: string;
  /** The decoded segments of the rest of the path. */
  parts: readonly string[];
  /** The rest of the path, undecoded. */
  rest: string;
  /** The URL of the registry, with the host name by which the client knows this server, without a trailing slash. */
  base: string;
}

/** The protocol of a format: a new format is a folder with one of these, listed in `index.ts`. */
export interface PackageProtocol {
  format: FormatName | 'go';
  errors: PackageErrorFormat;
  /** Whether anonymous clients get 404 for absent and hidden packages instead of a challenge. */
  isAbsentToAnonymous?: true;
  serve(deps: PackageHttpDeps, ctx: Context, request: PackageRequest): Promise<void>;
}
