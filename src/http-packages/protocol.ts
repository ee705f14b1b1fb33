import type { Context } from '../http/index.ts';
import type { FormatName } from '../packages/index.ts';
import type { PackageHttpDeps } from './deps.ts';
import type { PackageErrorFormat } from './errors.ts';

/** What a request below `/packages/{owner}/{format}/` names. */
export interface PackageRequest {
  owner: string;
  /** The decoded parts of the rest of the path. */
  parts: readonly string[];
  /** The rest as it was sent. */
  rest: string;
  /** The address of the registry, with the name by which the client knows this server, without a slash at the end. */
  base: string;
}

/** The protocol of a format: a new format is a folder with one of these, in the table of `index.ts`. */
export interface PackageProtocol {
  format: FormatName | 'go';
  errors: PackageErrorFormat;
  /** Answers anonymous clients with 404 for what is absent or hidden, which others answer with a challenge. */
  isAbsentToAnonymous?: true;
  serve(deps: PackageHttpDeps, ctx: Context, request: PackageRequest): Promise<void>;
}
