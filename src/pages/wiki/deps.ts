import type { CodeDeps } from '../code/deps.ts';
import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type WikiDeps = CodeDeps & Pick<WebDeps, 'ssh'>;
