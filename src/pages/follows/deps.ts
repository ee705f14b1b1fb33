import type { WebDeps } from '../../web/index.ts';

/** What the pages of this folder call. */
export type FollowsDeps = Pick<
  WebDeps,
  'clock' | 'federation' | 'copies' | 'repositories' | 'owners' | 'accounts' | 'organisations'
>;
