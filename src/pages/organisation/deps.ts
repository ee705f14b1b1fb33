import type { WebDeps } from '../../http/index.ts';

/** What the pages of this folder call. */
export type OrganisationDeps = Pick<WebDeps, 'clock' | 'owners' | 'organisations' | 'repositories' | 'federation'>;
