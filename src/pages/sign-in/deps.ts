import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type SignInDeps = Pick<
  WebDeps,
  'config' | 'clock' | 'accounts' | 'organisations' | 'owners' | 'oneTimeSecrets' | 'pendingForms' | 'singleSignOn'
>;
