import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type FollowsDeps = Pick<
  WebDeps,
  'clock' | 'federation' | 'copies' | 'repositories' | 'owners' | 'accounts' | 'organisations'
>;
