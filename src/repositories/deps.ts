import type { Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { ImageStore } from '../images/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { CopyPort, ForkListener } from './ports/fork-port.ts';
import type { LifecycleListener } from './ports/lifecycle-port.ts';
import type { RestoreListener } from './ports/restore-port.ts';
import type { VerifyCommits } from './ports/verify-port.ts';
import type { PreReceiveCheck } from './ports/pre-receive-port.ts';
import type { PostReceiveOutput } from './ports/post-receive-port.ts';
import type { ReviewPort } from './ports/review-port.ts';
import type { WikiListener } from './ports/wiki-port.ts';

/** Creates commits on behalf of users, or of the server for its command line. */
export interface Committer {
  identityOf(viewer: Viewer): Promise<{ name: string; email: string }>;
  /** Signs commit content; without it, commits are unsigned. */
  sign?: ((payload: Buffer) => Promise<string>) | undefined;
}

/** Dependencies of the use-cases of this module. */
export interface RepositoryDeps {
  db: Database;
  owners: Owners;
  accounts: Pick<
    Accounts,
    'personByUsername' | 'peopleById' | 'deployKeys' | 'listPeopleAmong' | 'addresses' | 'announceSecurityEvent'
  >;
  organisations: Organisations;
  git: Git;
  /** Images of repositories, by UUID, below `SERVICE_REPO_IMAGE_ROOT`. */
  images: ImageStore;
  /** Repository images in the trash. */
  trashedImages: ImageStore;
  clock: Clock;
  random: Random;
  logger: Logger;
  committer: Committer;
  settings: RepositorySettings;
  /** Checks by other modules before a push; registered by `refusePushes`. */
  preReceiveChecks: PreReceiveCheck[];
  /** Called inside the transaction that creates a fork; registered by `onFork`. */
  forkListeners: ForkListener[];
  /** Called inside the transaction that creates or deletes a repository; registered by `onLifecycle`. */
  lifecycleListeners: LifecycleListener[];
  /** Called after wiki pages changed; registered by `wikis.onChange`. */
  wikiListeners: WikiListener[];
  /** Called when a repository is restored from the trash; registered by `trash.onRestore`. */
  restoreListeners: RestoreListener[];
  /** Copies data that files need outside git's object store; registered by `forks.copyWith`. */
  copying: { port: CopyPort | null };
  /** Verifies commit signatures; registered by `verifyCommitsWith`. */
  verification: { verify: VerifyCommits | null };
  /** Handles pushes to `refs/for/…`; registered by `onReviewPush`. */
  reviews: { port: ReviewPort | null };
  /** Listeners' messages about push options that they understand; registered by `onPush`. */
  optionRemarks: ((option: string) => string | null)[];
  /** Messages about a finished push; registered by `addPostReceiveOutput`. */
  arrivalRemarks: PostReceiveOutput[];
}

export interface RepositorySettings {
  /** Folder of deleted repositories; on the same file system as the store. */
  trashDirectory: string;
  /** Time that deleted repositories stay in the trash, in milliseconds. */
  trashTtlMs: number;
  /** Time during which overwritten tips can be restored, in milliseconds. */
  undoTtlMs: number;
  /** Retention time of the push journal, in milliseconds. */
  pushTtlMs: number;
  /** Free disk space below which pushes and images are refused, in bytes. */
  lowDiskFloorBytes: number;
  /** Whether a push to a missing repository in the viewer's namespace creates it. */
  pushToCreate: boolean;
  /** Size limit of all files in one change by the browser or the API, in bytes. */
  maxChangeBytes: number;
  /** Time limit for each call of a push listener, in milliseconds. */
  listenerTimeoutMs: number;
  /** Time that a push waits for the recovery of its repository, in milliseconds. */
  recoveryWaitMs: number;
}
