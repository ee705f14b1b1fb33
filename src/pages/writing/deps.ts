import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type WritingDeps = Pick<WebDeps, 'accounts' | 'organisations' | 'issues' | 'pulls'>;
