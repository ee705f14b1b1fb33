import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { Pulls } from '../pulls/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';

/** Dependencies of the use-cases of this module. */
export interface WebhookDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById' | 'addresses'>;
  repositories: Pick<Repositories, 'locate'>;
  owners: Pick<Owners, 'ownersById'>;
  organisations: { teams: Pick<Organisations['teams'], 'byId'> };
  issues: Pick<Issues, 'describe' | 'findEntry' | 'textBefore'>;
  pulls: Pick<Pulls, 'ofIssues'>;
  git: Git;
  outbound: Outbound;
  outbox: Pick<Outbox, 'drain' | 'enqueue' | 'register' | 'removeOld'>;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: WebhookSettings;
}

interface WebhookSettings {
  /** Public origin of this server; null when it is taken from the Host header of each request. */
  baseUrl: string | null;
  /** Origin of git over SSH, `ssh://git@host:port`; null if it is disabled. */
  sshOrigin: string | null;
  /** Attempts before a delivery counts as failed. */
  maxAttempts: number;
}
