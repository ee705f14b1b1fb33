import type { Readable } from 'node:stream';
import type { NewCookie } from '../../http/index.ts';
import type { Dependency } from './dependency.ts';

/** The result of a page; routing.ts turns it into bytes. */
export type Reply = PageReply | RedirectReply | ContentReply;

export interface PageReply {
  kind: 'page';
  status: number;
  /** Path below templates/, without the extension: `sign-in/login`. */
  template: string;
  locals: Record<string, unknown>;
  cookies: NewCookie[];
  headers: Record<string, string>;
  /** The page holds a secret: never stored, never compressed (its length would reveal it). */
  showsSecret: boolean;
  /**
   * The page may be sent again to the same viewer while its repository, its refs and the dependencies listed here are
   * unchanged (`page-cache.ts`); null when it shows anything else that changes.
   */
  dependencies: readonly Dependency[] | null;
}

export interface RedirectReply {
  kind: 'redirect';
  status: 301 | 303 | 307;
  to: string;
  cookies: NewCookie[];
}

export interface ContentReply {
  kind: 'content';
  status: number;
  type: string;
  body: string | Buffer | Readable;
  /** With an `ETag`, a browser that has the same content gets 304 and no body. */
  headers: Record<string, string>;
}

interface PageOptions {
  status?: number;
  cookies?: NewCookie[];
  /** Not for cacheable pages: they are cached without notices. */
  headers?: Record<string, string>;
  showsSecret?: boolean;
  restsOn?: readonly Dependency[] | null;
}

/** An HTML page made from a template and the fields it needs, never from whole records. */
export function page(template: string, locals: Record<string, unknown> = {}, options: PageOptions = {}): PageReply {
  const { status = 200, cookies = [], headers = {}, showsSecret = false, restsOn = null } = options;
  return { kind: 'page', status, template, locals, cookies, headers, showsSecret, dependencies: restsOn };
}

/** The response to every accepted form: the browser loads the result with a GET. */
export function seeOther(to: string, options: { cookies?: NewCookie[] } = {}): RedirectReply {
  return { kind: 'redirect', status: 303, to, cookies: options.cookies ?? [] };
}

/** The same resource at another URL. Browsers cache it briefly, because a name may be used again. */
export function movedTo(to: string): RedirectReply {
  return { kind: 'redirect', status: 301, to, cookies: [] };
}

/** The same request, with its body, at another URL. */
export function sendAgainAt(to: string): RedirectReply {
  return { kind: 'redirect', status: 307, to, cookies: [] };
}

export function content(
  type: string,
  body: string | Buffer | Readable,
  options: { status?: number; headers?: Record<string, string> } = {},
): ContentReply {
  return { kind: 'content', status: options.status ?? 200, type, body, headers: options.headers ?? {} };
}
