import { base32, otpauthUri } from '../../accounts/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';
import { viewQrCode } from './qr-code.view.ts';
import { redirectToRecoveryCodes } from './security.page.ts';

const here = '/settings/security';

async function appPage(
  { person, origin, form }: PersonContext,
  { accounts }: AccountDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const secret = await accounts.secondFactor.beginTotp(person.id);
  const uri = otpauthUri(secret, { issuer: new URL(origin).host, account: person.username ?? person.id });
  return page(
    'account/authenticator-app',
    {
      qr: await viewQrCode(uri),
      uri,
      key: base32(secret)
        .match(/.{1,4}/g)!
        .join(' '),
      form: { code: form.text('code') },
      refusal,
    },
    { showsSecret: true },
  );
}

/** The QR code for an authenticator app, and the form for its first code. */
export const showAuthenticatorApp: Page<PersonContext, AccountDeps> = async (context, deps) => {
  try {
    return await appPage(context, deps, null);
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'totp_enabled') throw error;
    return seeOther(here);
  }
};

/** Field `code`. For the first factor, redirects to the recovery codes. */
export const addAuthenticatorApp: Page<PersonContext, AccountDeps> = (context, deps) =>
  submitForm(
    async () => {
      const codes = await deps.accounts.secondFactor.enableTotp(context.person.id, context.form.text('code'));
      return codes === null
        ? seeOther(withFlashMessage(here, 'app-added'))
        : redirectToRecoveryCodes(deps, context.person.id, codes);
    },
    (refusal) => appPage(context, deps, refusal),
  );
