import type { WebDeps } from '../../http/index.ts';

/** What the pages of this folder call. */
export type ExploreDeps = Pick<
  WebDeps,
  'clock' | 'accounts' | 'owners' | 'organisations' | 'repositories' | 'search' | 'codeSearch' | 'backgroundPriority'
>;
