import { providerCookie } from '../../http/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

async function linkedAccountsPage(
  { person, query }: PersonContext,
  { accounts, clock, singleSignOn }: AccountDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const identities = await accounts.listIdentities(person.id);
  const titles = new Map(singleSignOn.providers.map(({ issuer, title }) => [issuer, title]));
  return page('account/linked-accounts', {
    identities: identities.map(({ id, issuer, label, createdAt, lastUsedAt }) => ({
      id,
      provider: titles.get(issuer) ?? issuer,
      isConfigured: titles.has(issuer),
      label,
      linked: viewTime(createdAt, clock.now()),
      lastUsed: lastUsedAt === null ? null : viewTime(lastUsedAt, clock.now()),
    })),
    providers: singleSignOn.providers.map(({ name, title }) => ({ name, title })),
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** The provider accounts that a user signs in with. */
export const showLinkedAccounts: Page<PersonContext, AccountDeps> = (context, deps) =>
  linkedAccountsPage(context, deps, null);

/**
 * Field `provider`. Responds with a page that continues to the provider by itself: `form-action` of the content
 * security policy would block a redirect after a form.
 */
export const linkAccount: Page<PersonContext, AccountDeps> = (context, deps) => {
  const { form, session, origin } = context;
  const { singleSignOn } = deps;
  const name = form.text('provider');
  return submitForm(
    async () => {
      const { url, sealed, ttlMs } = await singleSignOn.begin(name, {
        purpose: 'link',
        next: '/settings/linked-accounts',
        sessionId: session.id,
        origin,
      });
      const title = singleSignOn.providers.find((each) => each.name === name)?.title ?? name;
      return page('account/go-to-provider', { url, title }, { cookies: [providerCookie(origin, sealed, ttlMs)] });
    },
    (refusal) => linkedAccountsPage(context, deps, refusal),
  );
};

export const unlinkAccount: Page<PersonContext, AccountDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.singleSignOn.unlink(context.person.id, context.params.id ?? '');
      return seeOther(withFlashMessage('/settings/linked-accounts', 'account-unlinked'));
    },
    (refusal) => linkedAccountsPage(context, deps, refusal),
  );
