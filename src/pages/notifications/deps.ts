import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type NotificationsDeps = Pick<
  WebDeps,
  'clock' | 'config' | 'notifications' | 'oneTimeSecrets' | 'owners' | 'repositories'
>;
