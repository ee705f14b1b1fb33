import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';

/** What the use-cases of this room work with. */
export interface WebhookDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById'>;
  repositories: Pick<Repositories, 'locate'>;
  git: Git;
  outbound: Outbound;
  outbox: Pick<Outbox, 'drain' | 'enqueue' | 'register' | 'removeOld'>;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: WebhookSettings;
}

export interface WebhookSettings {
  /** Origin that people know this server by; null when each request tells. */
  baseUrl: string | null;
  /** What git over SSH is reached at, `ssh://git@host:port`; null when it is off. */
  sshOrigin: string | null;
  /** Attempts before a delivery counts as failed. */
  maxAttempts: number;
}
