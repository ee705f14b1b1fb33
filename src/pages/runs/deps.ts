import type { WebDeps } from '../../http/index.ts';

/** What the pages of this folder call. */
export type RunsDeps = Pick<
  WebDeps,
  'clock' | 'accounts' | 'repositories' | 'ci' | 'issues' | 'notifications' | 'oneTimeSecrets'
>;
