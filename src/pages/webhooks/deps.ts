import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type WebhooksDeps = Pick<WebDeps, 'config' | 'clock' | 'webhooks'>;
