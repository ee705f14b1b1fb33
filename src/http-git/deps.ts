import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Git } from '../git/index.ts';
import type { Logger } from '../kernel/index.ts';
import type { Repositories } from '../repositories/index.ts';

/** What git over HTTP needs of the domain modules. */
export interface GitHttpDeps {
  accounts: Pick<Accounts, 'viewerOfToken'>;
  ci: { tasks: Pick<Ci['tasks'], 'viewerOfToken'> };
  repositories: Pick<Repositories, 'openForRead' | 'openForPush' | 'pushes' | 'findMoved'>;
  git: Pick<Git, 'transfers'>;
  logger: Logger;
}
