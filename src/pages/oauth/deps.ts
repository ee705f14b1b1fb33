import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type OAuthPageDeps = Pick<WebDeps, 'accounts' | 'clock' | 'config' | 'consents' | 'oauth' | 'oneTimeSecrets'>;
