import { isDomainError } from '../../kernel/index.ts';
import type { PersonAsking } from '../../oauth/index.ts';
import { translateRefusal, t } from '../../translation/index.ts';
import { page } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { OAuthPageDeps } from './deps.ts';

export const askingOf = ({ person, session }: PersonContext): PersonAsking => ({
  personId: person.id,
  sessionId: session.id,
});

/** The displayed part of the redirect URI: the site, or the local machine. */
function viewDestination(address: string): string {
  const { protocol, host, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:')
    return t('oauth.consent.a_program_on_this_machine_protocol', { protocol });
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname) ? t('oauth.consent.a_program_on_this_machine') : host;
}

/**
 * `/login/oauth/consent/:uid`: describes the request of an application. A request of another session and a finished one
 * get the same response.
 */
export const showConsent: Page<PersonContext, OAuthPageDeps> = async (context, { consents }) => {
  try {
    const request = await consents.find(context.params.uid ?? '', askingOf(context));
    const { application, wants, leadsTo, needs, uid } = request;
    return page(
      'oauth/consent',
      {
        uid,
        needs,
        application: {
          name: application.name,
          isVerified: application.isPreset || application.owner.kind === 'instance',
        },
        wants,
        destination: viewDestination(leadsTo),
      },
      { showsSecret: true },
    );
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'unknown_request') throw error;
    return page('oauth/error', { error: 'expired', description: translateRefusal(error) }, { status: 404 });
  }
};

/**
 * The page after the decision. It redirects by itself: the page's own policy on forms, which also applies to redirects
 * after a form, would block a redirect to another site (CSP 3, 6.4.2).
 */
const leadOn = (to: string, isAllowed: boolean) =>
  page('oauth/answered', { to, isAllowed }, { headers: { Refresh: `0; url=${to}` }, showsSecret: true });

export const allowApplication: Page<PersonContext, OAuthPageDeps> = async (context, { consents }) =>
  leadOn(await consents.approve(context.params.uid ?? '', askingOf(context)), true);

/** Requires "Confirm it is you". */
export const confirmForApplication: Page<PersonContext, OAuthPageDeps> = async (context, { consents }) =>
  leadOn(await consents.confirm(context.params.uid ?? '', askingOf(context)), true);

export const denyApplication: Page<PersonContext, OAuthPageDeps> = async (context, { consents }) =>
  leadOn(await consents.deny(context.params.uid ?? '', askingOf(context)), false);
