import type { WebDeps } from '../../http/index.ts';

/** What the pages of this folder call. */
export type AccountDeps = Pick<
  WebDeps,
  | 'config'
  | 'clock'
  | 'accounts'
  | 'signing'
  | 'owners'
  | 'avatars'
  | 'organisations'
  | 'repositories'
  | 'federation'
  | 'ci'
  | 'pulls'
  | 'notices'
  | 'singleSignOn'
  | 'oneTimeSecrets'
>;
