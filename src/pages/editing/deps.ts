import type { WebDeps } from '../../web/index.ts';
import type { CodeDeps } from '../code/deps.ts';

/** The modules that the pages of this folder call. */
export type EditingDeps = CodeDeps & Pick<WebDeps, 'pulls' | 'imports'>;
