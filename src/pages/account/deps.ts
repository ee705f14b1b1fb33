import type { WebDeps } from '../../web/index.ts';
import type { ProfileReadmeDeps } from '../code/profile-readme.ts';

/** The modules that the pages of this folder call. */
export type AccountDeps = ProfileReadmeDeps &
  Pick<
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
