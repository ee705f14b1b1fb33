import type { WebDeps } from '../../web/index.ts';

/** What the pages of this folder call. */
export type WritingDeps = Pick<WebDeps, 'accounts' | 'organisations' | 'issues' | 'pulls'>;
