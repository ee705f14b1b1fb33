import type { PersonContext } from '../app/request-context.ts';
import { inAdministration, inOrganisationSettings, inPersonSettings } from '../app/route.ts';
import type { Route, SettingsRow } from '../app/route.ts';
import { ofInstance, ofOrganisation, ofPerson } from '../runs/scopes.ts';
import { applicationPages, revokeApplication } from './applications.page.ts';
import type { ApplicationPages } from './applications.page.ts';
import { allowApplication, confirmForApplication, denyApplication, showConsent } from './consent.page.ts';
import { answerDevice, showDevice } from './device.page.ts';

const consent = '/login/oauth/consent/:uid';

/** A new secret and new redirect URIs require "Confirm it is you". */
function applicationRoutes<V extends PersonContext>(row: SettingsRow<V>, pages: ApplicationPages<V>): Route[] {
  const confirmed = (route: Route): Route => ({ ...route, confirmation: 'required' }) as Route;
  return [
    row('GET', '/applications', pages.list),
    confirmed(row('POST', '/applications', pages.add)),
    row('GET', '/applications/:app', pages.show),
    confirmed(row('POST', '/applications/:app', pages.edit)),
    confirmed(row('POST', '/applications/:app/secret', pages.replaceSecret)),
    row('GET', '/applications/:app/secret/:oneTimeToken', pages.showSecret),
    confirmed(row('POST', '/applications/:app/delete', pages.remove)),
  ];
}

/** Requests of applications, and the applications of users, organisations and the instance. */
export const oauthRoutes: readonly Route[] = [
  { method: 'GET', path: consent, access: 'signed-in', cost: 'rows', page: showConsent },
  { method: 'POST', path: `${consent}/allow`, access: 'signed-in', cost: 'rows', page: allowApplication },
  { method: 'POST', path: `${consent}/deny`, access: 'signed-in', cost: 'rows', page: denyApplication },
  {
    method: 'POST',
    path: `${consent}/confirm`,
    access: 'signed-in',
    cost: 'rows',
    page: confirmForApplication,
    confirmation: 'required',
  },
  { method: 'GET', path: '/login/device', access: 'signed-in', cost: 'rows', page: showDevice },
  { method: 'POST', path: '/login/device', access: 'signed-in', cost: 'rows', page: answerDevice },
  inPersonSettings('POST', '/applications/grants/:grant/delete', revokeApplication),
  ...applicationRoutes(inPersonSettings, applicationPages(ofPerson)),
  ...applicationRoutes(inOrganisationSettings, applicationPages(ofOrganisation)),
  ...applicationRoutes(inAdministration, applicationPages(ofInstance)),
];
