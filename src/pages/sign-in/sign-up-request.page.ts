import { notFound } from '../../kernel/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext, RequestContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { SignInDeps } from './deps.ts';
import { invitesPage, leadToInvite } from './invites.page.ts';

function requestPage({ form }: RequestContext, { config }: SignInDeps, refusal: FormRefusal | null): PageReply {
  if (config.accounts.signUp !== 'approval') throw notFound();
  return page('sign-in/sign-up-request', {
    form: { address: form.text('address'), reason: form.text('reason') },
    refusal,
  });
}

/** `/signup/request`: requests an account, where the settings allow that; otherwise 404. */
export const showSignUpRequest: Page<RequestContext, SignInDeps> = (context, deps) =>
  context.person ? seeOther('/') : requestPage(context, deps, null);

/** Fields `address`, `reason`. The response is the same for every address. */
export const requestSignUp: Page<RequestContext, SignInDeps> = (context, deps) => {
  const { form, address: network } = context;
  return submitForm(
    async () => {
      await deps.accounts.requestSignUp({ address: form.text('address'), reason: form.text('reason'), network });
      return page('sign-in/sign-up-requested', { canSendLinks: deps.accounts.addresses.canSendLinks });
    },
    (refusal) => requestPage(context, deps, refusal),
  );
};

/** Creates the invitation, and redirects to the page that shows its link once. */
export const approveRequest: Page<PersonContext, SignInDeps> = (context, deps) =>
  submitForm(
    async () =>
      leadToInvite(context, deps, await deps.accounts.approveSignUp(context.person.id, context.params['id'] ?? '')),
    (refusal) => invitesPage(context, deps, refusal),
  );

export const refuseRequest: Page<PersonContext, SignInDeps> = async ({ params }, { accounts }) => {
  await accounts.refuseSignUp(params['id'] ?? '');
  return seeOther(withFlashMessage('/admin/invites', 'sign-up-refused'));
};
