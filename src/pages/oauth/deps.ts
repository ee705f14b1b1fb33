import type { WebDeps } from '../../web/index.ts';

/** What the pages of this folder call. */
export type OAuthPageDeps = Pick<WebDeps, 'accounts' | 'clock' | 'config' | 'consents' | 'oauth' | 'oneTimeSecrets'>;
