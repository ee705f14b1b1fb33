import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Config } from '../config/index.ts';
import type { Git } from '../git/index.ts';
import type { Logger } from '../kernel/index.ts';
import type { Lfs } from '../lfs/index.ts';
import type { Repositories } from '../repositories/index.ts';

/** Parts of the domain modules that git over HTTP uses. */
export interface GitHttpDeps {
  config: Pick<Config, 'baseUrl'>;
  accounts: Pick<Accounts, 'viewerOfToken'>;
  ci: { tasks: Pick<Ci['tasks'], 'viewerOfToken'> };
  repositories: Pick<
    Repositories,
    'openForRead' | 'openForPush' | 'openGitForRead' | 'openGitForPush' | 'pushes' | 'findMoved' | 'findMovedGit'
  >;
  lfs: Pick<Lfs, 'open' | 'batch' | 'receive' | 'verify' | 'describe' | 'read' | 'tokens' | 'locks'>;
  git: Pick<Git, 'transfers'>;
  logger: Logger;
}
