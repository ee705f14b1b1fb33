import type { Person, Session } from '../../accounts/index.ts';
import type { Context as HttpContext, Form, Identity as HttpIdentity } from '../../http/index.ts';
import type { Middleware as HttpMiddleware, State as HttpState } from '../../http/index.ts';
import type { ImageUpload } from '../../images/index.ts';
import type { IssueTab } from '../../issues/index.ts';
import type { Watching } from '../../notifications/index.ts';
import type { Organisation } from '../../organisations/index.ts';
import type { PendingFile, ReleaseCounts } from '../../releases/index.ts';
import type { Found, ForkSummary, StarState } from '../../repositories/index.ts';

/** The viewer, determined from the session cookie. */
export interface Identity extends HttpIdentity {
  person: Person | null;
  session: Session | null;
}

/** A repository with the counts and states that its page header shows. */
export interface FoundWithHeader extends Found {
  /** Whether the viewer has pinned it; null for viewers who cannot. */
  isPinned: boolean | null;
  stars: StarState;
  issues: IssueTab;
  forks: ForkSummary;
  releases: Pick<ReleaseCounts, 'published' | 'drafts'>;
  /** Number of packages linked to it. */
  packages: number;
  /** The viewer's watch level; null without an account. */
  watch: Watching | null;
}

/** A stored file that was uploaded with a form. */
export interface AttachedFile {
  name: string;
  /** Its URL without the host. */
  path: string;
  /** The Markdown that shows it in a text. */
  markdown: string;
}

/** A file of a form, held in memory. */
export interface ReceivedContent {
  name: string;
  content: Buffer;
}

/** The results of the middlewares for one request; each uses those of its predecessors. */
export interface State extends HttpState {
  identity: Identity;
  /** Set on routes that name a repository, once read access was checked. */
  found: FoundWithHeader | null;
  /** Set on routes for the OWNERs of an organisation. */
  organisation: Organisation | null;
  form: Form;
  /** The file of a form with a single file; throws the upload error. */
  takeUpload: () => ImageUpload;
  /** The uploaded files for the texts of issues; throws the upload error. */
  takeFiles: () => readonly AttachedFile[];
  /** The uploaded files for a repository; throws the upload error. */
  takeContents: () => readonly ReceivedContent[];
  /** The uploaded files for a release; throws the upload error. */
  takeReleaseFiles: () => readonly PendingFile[];
  /** The inputs of a cached page besides the database; null when the response is not cached. */
  cachedPage: { madeAtMs: number; repository: string; refs: string } | null;
}

export type Context = HttpContext<State>;
export type Middleware = HttpMiddleware<State>;
