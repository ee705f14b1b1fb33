import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewGpgKey } from './gpg-key.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const home = '/settings/gpg';

async function keysPage(
  { person, query }: PersonContext,
  { signing, clock }: AccountDeps,
  form: { key: string },
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const keys = await signing.listGpgKeys(person.id);
  const own = await signing.ownAddresses(person.id, keys);
  return page('account/gpg-keys', {
    keys: keys.map((key) => viewGpgKey(key, own, clock.now())),
    form,
    refusal,
    notice: viewFlashMessage(query),
  });
}

export const showGpgKeys: Page<PersonContext, AccountDeps> = (context, deps) =>
  keysPage(context, deps, { key: '' }, null);

/** Field `key`, the output of `gpg --armor --export`. */
export const addGpgKey: Page<PersonContext, AccountDeps> = (context, deps) => {
  const input = { key: context.form.text('key') };
  return submitForm(
    async () => {
      const { isNew } = await deps.signing.addGpgKey(context.person.id, input.key);
      return seeOther(withFlashMessage(home, isNew ? 'gpg-key-added' : 'gpg-key-updated'));
    },
    // A refused key is not sent back: it may be a private key pasted by mistake.
    (refusal) => keysPage(context, deps, /PRIVATE KEY/.test(input.key) ? { key: '' } : input, refusal),
  );
};

export const removeGpgKey: Page<PersonContext, AccountDeps> = async ({ person, params }, { signing }) => {
  await signing.removeGpgKey(person.id, params.id ?? '');
  return seeOther(withFlashMessage(home, 'gpg-key-removed'));
};
