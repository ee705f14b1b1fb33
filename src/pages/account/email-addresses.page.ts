import { isDomainError } from '../../kernel/index.ts';
import { translateRefusal } from '../../translation/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewEmailAddress } from './email-address.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const here = '/settings/emails';

async function addressesPage(
  { person, query }: PersonContext,
  { accounts, clock }: AccountDeps,
  address: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { addresses } = accounts;
  return page('account/email-addresses', {
    addresses: (await addresses.list(person.id)).map((each) => viewEmailAddress(each, clock.now())),
    noReply: addresses.noReplyOf(person),
    canSendLinks: addresses.canSendLinks,
    form: { address },
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** Changes one address; a refusal is shown above the list. */
const changing = (context: PersonContext, deps: AccountDeps, notice: string, change: () => Promise<unknown>) =>
  submitForm(
    async () => {
      await change();
      return seeOther(withFlashMessage(here, notice));
    },
    ({ message }) => addressesPage(context, deps, '', { message, field: null }),
  );

export const showEmailAddresses: Page<PersonContext, AccountDeps> = (context, deps) =>
  addressesPage(context, deps, '', null);

/** Field `address`. If mail is on, a link is sent to it. */
export const addEmailAddress: Page<PersonContext, AccountDeps> = (context, deps) => {
  const address = context.form.text('address');
  return submitForm(
    async () => {
      await deps.accounts.addresses.add(context.person.id, { address });
      return seeOther(
        withFlashMessage(here, deps.accounts.addresses.canSendLinks ? 'address-added' : 'address-listed'),
      );
    },
    (refusal) => addressesPage(context, deps, address, refusal),
  );
};

export const sendVerification: Page<PersonContext, AccountDeps> = (context, deps) =>
  changing(context, deps, 'address-sent', () =>
    deps.accounts.addresses.sendVerification(context.person.id, context.params.id ?? ''),
  );

export const setPrimaryAddress: Page<PersonContext, AccountDeps> = (context, deps) =>
  changing(context, deps, 'address-primary', () =>
    deps.accounts.addresses.setPrimary(context.person.id, context.params.id ?? ''),
  );

/** Field `on`: `yes` shows the address on the profile, anything else hides it. */
export const setAddressPublic: Page<PersonContext, AccountDeps> = (context, deps) => {
  const isPublic = context.form.text('on') === 'yes';
  return changing(context, deps, isPublic ? 'address-public' : 'address-private', () =>
    deps.accounts.addresses.setPublic(context.person.id, context.params.id ?? '', isPublic),
  );
};

export const removeEmailAddress: Page<PersonContext, AccountDeps> = (context, deps) =>
  changing(context, deps, 'address-removed', () =>
    deps.accounts.addresses.remove(context.person.id, context.params.id ?? ''),
  );

/** `/settings/emails/verify?token=…` requires a click: mail servers open every link of a mail. */
export const showVerification: Page<PersonContext, AccountDeps> = ({ person, query }, { accounts }) =>
  orLinkClosed(person.username, async () => {
    const token = query.get('token') ?? '';
    const { address } = await accounts.addresses.checkVerification(person.id, token);
    return page('account/verify-address', { address, username: person.username, token }, { showsSecret: true });
  });

/** Field `token`. */
export const verifyAddress: Page<PersonContext, AccountDeps> = ({ person, form }, { accounts }) =>
  orLinkClosed(person.username, async () => {
    await accounts.addresses.verify(person.id, form.text('token'));
    return seeOther(withFlashMessage(here, 'address-verified'));
  });

/** One page for every invalid link, whatever the reason, with the next step. */
async function orLinkClosed(username: string | null, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!isDomainError(error) || !['link_closed', 'address_in_use'].includes(error.reason)) throw error;
    const isClosed = error.reason === 'link_closed';
    const message = isClosed ? null : translateRefusal(error);
    return page('account/address-link-closed', { username, message }, { status: isClosed ? 404 : 409 });
  }
}
