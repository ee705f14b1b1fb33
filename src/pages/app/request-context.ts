import type { PersonViewer, Viewer } from '../../access/index.ts';
import type { Person, Session, SessionOrigin } from '../../accounts/index.ts';
import type { ImageUpload } from '../../images/index.ts';
import type { Organisation } from '../../organisations/index.ts';
import type { PendingFile } from '../../releases/index.ts';
import type { AssetEncoding, Form, Preferences } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { AttachedFile, FoundWithHeader, ReceivedContent } from './context.ts';
import type { Reply } from './reply.ts';

/**
 * Everything a page may know about one request. Pages never see Koa: they read
 * a request context, call one use-case and respond with a `Reply`.
 */
export interface RequestContext {
  readonly method: string;
  /** The path as the browser sent it, still percent-encoded, without the query. */
  readonly path: string;
  /** The decoded parts of the path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Empty unless the request carried a form. */
  readonly form: Form;
  /**
   * The file that an upload form brought. Whatever was wrong with the upload is thrown
   * here, as a refusal of the form; nothing was stored. On other routes there is none.
   */
  takeUpload(): ImageUpload;
  /**
   * The files that a form for issues brought, stored and so far its sender's alone; the field `body` has them
   * already. What was wrong with one of them is thrown here, as a refusal of the form.
   */
  takeFiles(): readonly AttachedFile[];
  /** The files that a form for a repository brought. What was wrong with one is thrown, as a refusal of the form. */
  takeContents(): readonly ReceivedContent[];
  /** The files that a form for a release brought, received and so far no one's; throws what was wrong with them. */
  takeReleaseFiles(): readonly PendingFile[];
  readonly viewer: Viewer;
  readonly person: Person | null;
  /** When the person's picture was stored; null without one. */
  readonly avatarAt: number | null;
  readonly session: Session | null;
  /** The secret in the session cookie, valid or not. */
  readonly sessionSecret: string | null;
  /** The secret in the cookie of a sign-in of several steps, valid or not. */
  readonly challengeSecret: string | null;
  /** The sealed state of a sign-in at a provider, from its cookie; valid or not. */
  readonly providerState: string | null;
  /** What the browser knows this server as: `https://git.example.org`, no slash at the end. */
  readonly origin: string;
  /** The client's network address, seen through trusted proxies. */
  readonly address: string;
  readonly userAgent: string;
  /** Where a browser that lost an event stream was: the id of the last event that it got. */
  readonly lastEventId: number | null;
  /** The headers of a request for a part of a file; '' without them. */
  readonly range: string;
  readonly ifRange: string;
  readonly preferences: Preferences;
  /** The best of these content codings for this browser, or `identity`. */
  bestEncoding(...offered: AssetEncoding[]): AssetEncoding;
}

/** The viewer is signed in; the route's access declaration guarantees it. */
interface SignedIn {
  readonly viewer: PersonViewer;
  readonly person: Person;
  readonly session: Session;
}

/** The path names a repository, and the viewer has the declared right on it. */
interface AtRepository {
  readonly found: FoundWithHeader;
}

/** The path names an organisation, and the viewer is one of its OWNERs. */
interface AtOrganisation {
  readonly organisation: Organisation;
}

export type PersonContext = RequestContext & SignedIn;
export type RepositoryContext = RequestContext & AtRepository;
/** Rights beyond reading are never anonymous. */
export type RepositoryPersonContext = RepositoryContext & SignedIn;

export type OrganisationOwnerContext = RequestContext & SignedIn & AtOrganisation;

/** What the last middleware has in hand, before the route's declaration says what is surely set. */
export type AnyContext = RequestContext & {
  readonly found: FoundWithHeader | null;
  readonly organisation: Organisation | null;
};

/** One page: reads its input, calls one use-case and replies. Each subject names what its pages call as `Deps`. */
export type Page<V extends RequestContext = RequestContext, Deps = WebDeps> = (
  request: V,
  deps: Deps,
) => Reply | Promise<Reply>;
export type PageHandler = Page<AnyContext>;

/** Where a new session starts, as the person's own list of devices will show it. */
export function sessionOrigin({ address, userAgent, sessionSecret }: RequestContext): SessionOrigin {
  return { address, userAgent, previousSecret: sessionSecret };
}
