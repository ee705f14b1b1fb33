import type { Exchange } from '../http/index.ts';

/** A request for git and its answer, whether it came through the middlewares of pages or past them. */
export interface GitExchange extends Pick<Exchange, 'req' | 'res' | 'state'> {
  /** Of the address, decoded; the name may end in `.git`. */
  readonly params: Readonly<Record<string, string>>;
  readonly querystring: string;
  /** Headers of every answer that `res` does not have yet: name, value, name, value. */
  readonly headers: readonly string[];
}

export type GitHandler = (exchange: GitExchange) => Promise<void>;

/** The routes of git's smart HTTP protocol. */
export interface GitHandlers {
  infoRefs: GitHandler;
  uploadPack: GitHandler;
  receivePack: GitHandler;
  /** Everything below `info/lfs`. */
  lfs: GitHandler;
  /** GET of an address that takes only POST. */
  refuseMethod: GitHandler;
}
