import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewEmailAddress } from '../account/email-address.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const pageOf = (id: string): string => `/admin/people/${encodeURIComponent(id)}/emails`;

async function addressesPage(
  { params, query }: PersonContext,
  { accounts, clock }: AdminDeps,
  address: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const person = await accounts.personById(params.id ?? '');
  const addresses = await accounts.addresses.list(person.id);
  return page('admin/person-addresses', {
    name: person.username ?? person.displayName,
    self: pageOf(person.id),
    addresses: addresses.map((each) => viewEmailAddress(each, clock.now())),
    canSendLinks: accounts.addresses.canSendLinks,
    form: { address },
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** Throws `unknown_person` before the form is read. */
const changing = (context: PersonContext, deps: AdminDeps, notice: string, change: (id: string) => Promise<unknown>) =>
  submitForm(
    async () => {
      const { id } = await deps.accounts.personById(context.params.id ?? '');
      await change(id);
      return seeOther(withFlashMessage(pageOf(id), notice));
    },
    (refusal) => addressesPage(context, deps, context.form.text('address'), refusal),
  );

/** `/admin/people/{id}/emails`: the addresses of a user, for administrators, who can verify them. */
export const showPersonAddresses: Page<PersonContext, AdminDeps> = (context, deps) =>
  addressesPage(context, deps, '', null);

/** Field `address`; it counts as verified, because an administrator added it. */
export const addPersonAddress: Page<PersonContext, AdminDeps> = (context, deps) =>
  changing(context, deps, 'address-verified', (id) =>
    deps.accounts.addresses.add(id, { address: context.form.text('address'), isVerified: true }),
  );

export const verifyPersonAddress: Page<PersonContext, AdminDeps> = (context, deps) =>
  changing(context, deps, 'address-verified', (id) =>
    deps.accounts.addresses.markVerified(id, context.params.address ?? ''),
  );

export const removePersonAddress: Page<PersonContext, AdminDeps> = (context, deps) =>
  changing(context, deps, 'address-removed', (id) => deps.accounts.addresses.remove(id, context.params.address ?? ''));
