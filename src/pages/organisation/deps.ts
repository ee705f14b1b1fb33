import type { WebDeps } from '../../web/index.ts';
import type { ProfileReadmeDeps } from '../code/profile-readme.ts';

/** The modules that the pages of this folder call. */
export type OrganisationDeps = ProfileReadmeDeps &
  Pick<WebDeps, 'clock' | 'owners' | 'organisations' | 'repositories' | 'federation'>;
