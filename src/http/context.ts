import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { anonymous } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Person, Session } from '../accounts/index.ts';
import type { ImageUpload } from '../images/index.ts';
import type { IssueTab } from '../issues/index.ts';
import type { Watching } from '../notifications/index.ts';
import type { Organisation } from '../organisations/index.ts';
import type { PendingFile, ReleaseCounts } from '../releases/index.ts';
import type { Found, ForkSummary, StarState } from '../repositories/index.ts';
import type { ActiveRequest } from './admission/background-priority.ts';
import type { Form } from './request/form.ts';

/** Who is looking, as the session cookie says. */
export interface Identity {
  viewer: Viewer;
  person: Person | null;
  session: Session | null;
  /** When the person's picture was stored; null without one. */
  avatarAt: number | null;
}

export const anonymousIdentity: Identity = Object.freeze({
  viewer: anonymous,
  person: null,
  session: null,
  avatarAt: null,
});

/** A repository as a page finds it: with what its head shows. */
export interface FoundWithHeader extends Found {
  /** Whether the viewer has pinned it; null for viewers who cannot. */
  isPinned: boolean | null;
  stars: StarState;
  issues: IssueTab;
  forks: ForkSummary;
  releases: Pick<ReleaseCounts, 'published' | 'drafts'>;
  /** How many packages follow it. */
  packages: number;
  /** How the viewer watches it; null without an account. */
  watch: Watching | null;
}

/** A file that a form brought and that is stored. */
export interface AttachedFile {
  name: string;
  /** Where it is, without the host. */
  path: string;
  /** What a text says to show it. */
  markdown: string;
}

/** What the middlewares have learned of one request, each from those before it. */
/** A file of a form, held in memory. */
export interface ReceivedContent {
  name: string;
  content: Buffer;
}

export interface State {
  requestId: string;
  /** The client's address, through trusted proxies. */
  address: string;
  /** Scheme and host as the browser sees them; '' until the Host header was accepted. */
  origin: string;
  /** The pattern of the route that matched, for log and metrics: `/repos/:owner/:name`. */
  routePath: string | null;
  identity: Identity;
  /** What background work waits for; see `admission/background-priority.ts`. */
  activeRequest?: ActiveRequest;
  /** The handler has already written the access log line of this request. */
  isLogged?: boolean;
  /** Set on routes that name a repository, once the viewer may see it. */
  found: FoundWithHeader | null;
  /** Set on routes for the OWNERs of an organisation. */
  organisation: Organisation | null;
  form: Form;
  /** The one file of a form that brings one; throws what was wrong with it. */
  takeUpload: () => ImageUpload;
  /** The files that a form brought for the texts of issues; throws what was wrong with them. */
  takeFiles: () => readonly AttachedFile[];
  /** The files that a form brought for a repository; throws what was wrong with them. */
  takeContents: () => readonly ReceivedContent[];
  /** The files that a form brought for a release; throws what was wrong with them. */
  takeReleaseFiles: () => readonly PendingFile[];
  /** The response holds a secret: it is neither stored nor compressed. */
  showsSecret: boolean;
  /** What a cached page depends on besides the database; null when the response is not cached. */
  cachedPage: { madeAtMs: number; repository: string; refs: string } | null;
}

/** What log and metrics record of a request, also of one that bypasses Koa. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Without the query. */
  readonly path: string;
  readonly state: Pick<State, 'requestId' | 'address' | 'routePath' | 'identity' | 'activeRequest' | 'isLogged'>;
}

export type Context = Koa.ParameterizedContext<State, Koa.DefaultContext>;
export type Middleware = Koa.Middleware<State, Koa.DefaultContext>;
