import { inOrganisationSettings, inRepositorySettings } from '../app/route.ts';
import type { Route, SettingsRow } from '../app/route.ts';
import type { PersonContext } from '../app/request-context.ts';
import { ofOrganisation, ofRepository } from '../runs/scopes.ts';
import { webhookPages } from './webhooks.page.ts';
import type { WebhookPages } from './webhooks.page.ts';

const webhookRoutesOf = <V extends PersonContext>(row: SettingsRow<V>, webhooks: WebhookPages<V>): Route[] => [
  row('GET', '/webhooks', webhooks.list),
  row('POST', '/webhooks', webhooks.add),
  row('GET', '/webhooks/:hook', webhooks.show),
  row('POST', '/webhooks/:hook', webhooks.edit),
  row('POST', '/webhooks/:hook/delete', webhooks.remove),
  row('POST', '/webhooks/:hook/test', webhooks.test),
  row('POST', '/webhooks/:hook/deliveries/:delivery/redeliver', webhooks.redeliver),
];

/** Webhooks of an organisation or a repository. */
export const webhooksRoutes: readonly Route[] = [
  ...webhookRoutesOf(inOrganisationSettings, webhookPages(ofOrganisation)),
  ...webhookRoutesOf(inRepositorySettings, webhookPages(ofRepository)),
];
