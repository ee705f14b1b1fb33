import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Config } from '../config/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Packages } from '../packages/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { WorkerPool } from '../workers/index.ts';

/** Domain modules that the package protocols need. */
export interface PackageHttpDeps {
  config: Pick<Config, 'baseUrl' | 'proxy' | 'objects'>;
  accounts: Pick<Accounts, 'viewerOfToken' | 'viewerOfPassword'>;
  ci: { tasks: Pick<Ci['tasks'], 'credentialOfToken'> };
  owners: Pick<Owners, 'resolve' | 'ownersById'>;
  repositories: Pick<Repositories, 'find'>;
  packages: Packages;
  git: Pick<Git, 'queries' | 'refs' | 'objects'>;
  workers: WorkerPool;
  instanceKey(purpose: string): InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
}
