import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { anonymous } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { ActiveRequest } from './background-priority.ts';

/**
 * The caller's identity. The account is null for anonymous clients and for callers with a token; `pages` knows its
 * shape.
 */
export interface Identity {
  viewer: Viewer;
  person: object | null;
  session: object | null;
  /** When the user's avatar was stored; null without one. */
  avatarAt: number | null;
}

export const anonymousIdentity = Object.freeze({
  viewer: anonymous,
  person: null,
  session: null,
  avatarAt: null,
}) satisfies Identity;

/** Request data set by the middlewares, each using that of earlier ones. */
export interface State {
  requestId: string;
  /** The client's address, seen through trusted proxies. */
  address: string;
  /** Scheme and host as the browser sees them; '' until the Host header was accepted. */
  origin: string;
  /** The pattern of the route that matched, for log and metrics: `/repos/:owner/:name`. */
  routePath: string | null;
  identity: Identity;
  /** This request, for which background work waits; see `background-priority.ts`. */
  activeRequest?: ActiveRequest;
  /** The handler has already written the access log line of this request. */
  isLogged?: boolean;
  /** The response contains a secret: it is neither stored nor compressed. */
  showsSecret: boolean;
}

/** Data of a request for log and metrics, also of one that bypasses Koa. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Without the query. */
  readonly path: string;
  readonly state: Pick<State, 'requestId' | 'address' | 'routePath' | 'identity' | 'activeRequest' | 'isLogged'>;
}

export type Context<Known extends State = State> = Koa.ParameterizedContext<Known, Koa.DefaultContext>;
export type Middleware<Known extends State = State> = Koa.Middleware<Known, Koa.DefaultContext>;
