import type { Person, Session } from '../../accounts/index.ts';
import type { Context as HttpContext, Form, Identity as HttpIdentity } from '../../http/index.ts';
import type { Middleware as HttpMiddleware, State as HttpState } from '../../http/index.ts';
import type { ImageUpload } from '../../images/index.ts';
import type { IssueTab } from '../../issues/index.ts';
import type { Watching } from '../../notifications/index.ts';
import type { Organisation } from '../../organisations/index.ts';
import type { PendingFile, ReleaseCounts } from '../../releases/index.ts';
import type { Found, ForkSummary, StarState } from '../../repositories/index.ts';

/** Who is looking, as the session cookie says. */
export interface Identity extends HttpIdentity {
  person: Person | null;
  session: Session | null;
}

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

/** A file of a form, held in memory. */
export interface ReceivedContent {
  name: string;
  content: Buffer;
}

/** What the middlewares have learned of one request, each from those before it. */
export interface State extends HttpState {
  identity: Identity;
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
  /** What a cached page depends on besides the database; null when the response is not cached. */
  cachedPage: { madeAtMs: number; repository: string; refs: string } | null;
}

export type Context = HttpContext<State>;
export type Middleware = HttpMiddleware<State>;
