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
 * All data of one request that a page can use. Pages never see Koa: they read a request context, call one use-case and
 * respond with a `Reply`.
 */
export interface RequestContext {
  readonly method: string;
  /** The path as the browser sent it, still percent-encoded, without the query. */
  readonly path: string;
  /** The decoded path parameters of the route. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Empty unless the request carried a form. */
  readonly form: Form;
  /**
   * The file of an upload form; other routes have none. Throws an upload error as a refusal of the form; nothing was
   * stored then.
   */
  takeUpload(): ImageUpload;
  /**
   * The uploaded files of an issue form, stored and visible to the sender only; the field `body` links to them. Throws
   * an upload error as a refusal of the form.
   */
  takeFiles(): readonly AttachedFile[];
  /** The uploaded files of a repository form. Throws an upload error as a refusal of the form. */
  takeContents(): readonly ReceivedContent[];
  /** The uploaded files of a release form, received and not yet attached to a release; throws an upload error. */
  takeReleaseFiles(): readonly PendingFile[];
  readonly viewer: Viewer;
  readonly person: Person | null;
  /** Upload time of the user's picture; null without one. */
  readonly avatarAt: number | null;
  readonly session: Session | null;
  /** The secret in the session cookie, valid or not. */
  readonly sessionSecret: string | null;
  /** The secret in the cookie of a multi-step sign-in, valid or not. */
  readonly challengeSecret: string | null;
  /** The encrypted state of a sign-in at a provider, from its cookie; valid or not. */
  readonly providerState: string | null;
  /** The origin of this server in the browser: `https://git.example.org`, without a slash at the end. */
  readonly origin: string;
  /** The client's network address, resolved through trusted proxies. */
  readonly address: string;
  readonly userAgent: string;
  /** The id of the last event that the browser received, when it reconnects to an event stream. */
  readonly lastEventId: number | null;
  /** The headers of a range request; '' without them. */
  readonly range: string;
  readonly ifRange: string;
  readonly preferences: Preferences;
  /** The best of these content codings for this client, or `identity`. */
  bestEncoding(...offered: AssetEncoding[]): AssetEncoding;
}

/** The viewer is signed in; the route's access declaration guarantees it. */
interface SignedIn {
  readonly viewer: PersonViewer;
  readonly person: Person;
  readonly session: Session;
}

/** The path names a repository, and the viewer has the declared permission on it. */
interface AtRepository {
  readonly found: FoundWithHeader;
}

/** The path names an organisation, and the viewer is one of its OWNERs. */
interface AtOrganisation {
  readonly organisation: Organisation;
}

export type PersonContext = RequestContext & SignedIn;
export type RepositoryContext = RequestContext & AtRepository;
/** Permissions beyond read always need an account. */
export type RepositoryPersonContext = RepositoryContext & SignedIn;

export type OrganisationOwnerContext = RequestContext & SignedIn & AtOrganisation;

/** The context before the route's declaration narrows its types. */
export type AnyContext = RequestContext & {
  readonly found: FoundWithHeader | null;
  readonly organisation: Organisation | null;
};

/**
 * One page: reads its input, calls one use-case and replies. Each subject declares the modules that its pages call as
 * `Deps`.
 */
export type Page<V extends RequestContext = RequestContext, Deps = WebDeps> = (
  request: V,
  deps: Deps,
) => Reply | Promise<Reply>;
export type PageHandler = Page<AnyContext>;

/** The origin of a new session, shown in the user's list of devices. */
export function sessionOrigin({ address, userAgent, sessionSecret }: RequestContext): SessionOrigin {
  return { address, userAgent, previousSecret: sessionSecret };
}
