import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Clock, Logger, Random, Semaphore } from '../kernel/index.ts';
import type { Mirrors } from '../mirrors/index.ts';
import type { Notifications } from '../notifications/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';
import type { Pulls } from '../pulls/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { Signing } from '../signing/index.ts';
import type { WorkerPool } from '../workers/index.ts';
import type { Webhooks } from '../webhooks/index.ts';

/** Dependencies of the use-cases of this module. */
export interface ImportDeps {
  db: Database;
  accounts: Accounts;
  avatars: Avatars;
  signing: Pick<Signing, 'addGpgKey'>;
  owners: Owners;
  organisations: Organisations;
  repositories: Repositories;
  git: Git;
  issues: Issues;
  pulls: Pulls;
  workers: WorkerPool;
  mirrors: Pick<Mirrors, 'bring' | 'progressOf'>;
  webhooks: Webhooks;
  ci: Pick<Ci, 'variables'>;
  notifications: Pick<Notifications, 'setWatching'>;
  outbound: Outbound;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Limits of concurrent requests, by host. */
  requests: Semaphore;
  settings: {
    /** Folder for the files of imports from folders while they run. */
    folder: string;
    /** The public address of this server, without a trailing slash. */
    baseUrl: string | null;
    /** Whether the host of a URL is in `mirrors.allowed_hosts`. */
    isNamed(url: URL): boolean;
    /** Delay before a failed request is retried, in milliseconds. */
    retryMs: readonly number[];
  };
}
