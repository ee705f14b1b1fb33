import type Koa from 'koa';
import type { Viewer } from '../access/index.ts';
import type { Person, Session } from '../accounts/index.ts';
import type { Found } from '../repositories/index.ts';
import type { Form } from './form.ts';

/** Who is looking, as the session cookie says. */
export interface Identity {
  viewer: Viewer;
  person: Person | null;
  session: Session | null;
}

/** What the middlewares have learned of one request, each from those before it. */
export interface State {
  requestId: string;
  /** The client's address, through trusted proxies. */
  address: string;
  /** Scheme and host as the browser sees them; '' until the Host header was accepted. */
  origin: string;
  /** The pattern of the route that answers, for log and metrics: `/repos/:owner/:name`. */
  routePath: string | null;
  identity: Identity;
  /** Set on routes that name a repository, once the viewer may see it. */
  found: Found | null;
  form: Form;
  /** The answer holds a secret: it is neither stored nor compressed. */
  showsSecret: boolean;
}

export type Context = Koa.ParameterizedContext<State, Koa.DefaultContext>;
export type Middleware = Koa.Middleware<State, Koa.DefaultContext>;
