import type { WebDeps } from '../../web/index.ts';
import type { CodeDeps } from '../code/deps.ts';

/** The modules that the pages of this folder call; the home page of a repository also shows its files. */
export type RepositoryDeps = CodeDeps &
  Pick<WebDeps, 'owners' | 'organisations' | 'pulls' | 'federation' | 'mirrors' | 'copies' | 'imports' | 'ssh'>;
