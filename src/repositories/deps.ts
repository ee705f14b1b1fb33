import type { Accounts } from '../accounts/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { ImageStore } from '../images/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { PreReceiveCheck } from './pushes/pre-receive-port.ts';

/** What the use-cases of this room work with. */
export interface RepositoryDeps {
  db: Database;
  owners: Owners;
  accounts: Pick<Accounts, 'personByUsername' | 'peopleById' | 'listPeopleAmong'>;
  organisations: Organisations;
  git: Git;
  /** Images of repositories, by UUID, below `SERVICE_REPO_IMAGE_ROOT`. */
  images: ImageStore;
  /** Images of repositories in the trash. */
  trashedImages: ImageStore;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: RepositorySettings;
  /** What other rooms say against a push; plugged in by `refusePushes`. */
  preReceiveChecks: PreReceiveCheck[];
  /** What listeners say of the push options that they understand; plugged in by `onPush`. */
  optionRemarks: ((option: string) => string | null)[];
}

export interface RepositorySettings {
  /** Where deleted repositories wait; on the same file system as the store. */
  trashDirectory: string;
  /** How long they wait, in milliseconds. */
  trashKeptMs: number;
  /** How long what a ref lost can be had back, in milliseconds. */
  undoKeptMs: number;
  /** Below this much free space pushes and images are refused, in bytes. */
  lowDiskFloorBytes: number;
  /** Whether a push to a missing repository of one's own makes it. */
  pushToCreate: boolean;
  /** How long a listener of pushes may take for each of its parts, in milliseconds. */
  listenerTimeoutMs: number;
  /** How long a push waits for what an earlier run left unsettled, in milliseconds. */
  recoveryWaitMs: number;
}
