import type { Exchange } from '../http/index.ts';

/** A request for git and its response. */
export interface GitExchange extends Pick<Exchange, 'req' | 'res' | 'state'> {
  /** Owner and name from the path, decoded; the name may end in `.git`. */
  readonly params: { readonly owner: string; readonly name: string };
  /** The rest of the path after the part that names the service, undecoded; '' for git's own URLs. */
  readonly rest: string;
  readonly querystring: string;
  /** Scheme and host by which clients reach this server. */
  origin(): string;
  /** `WWW-Authenticate` of a refusal that asks for credentials. */
  readonly challenge: string;
  /** Headers of every response, not yet set on `res`: name, value, name, value. */
  readonly headers: readonly string[];
}

export type GitHandler = (exchange: GitExchange) => Promise<void>;

/** Handlers of git's smart HTTP protocol. */
export interface GitHandlers {
  infoRefs: GitHandler;
  uploadPack: GitHandler;
  receivePack: GitHandler;
  /** All URLs below `info/lfs`. */
  lfs: GitHandler;
  /** For a URL that allows only this method. */
  refuseMethod(allowed: 'GET' | 'POST'): GitHandler;
}
