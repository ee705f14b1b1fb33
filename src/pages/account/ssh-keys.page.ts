import type { SshKeyUse } from '../../accounts/index.ts';
import { oneOf } from '../../http/index.ts';
import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewSshKey } from './ssh-key.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

interface KeyForm {
  title: string;
  key: string;
  uses: SshKeyUse;
}

/** In the order of the form; the first is the default. */
const uses = ['both', 'authentication', 'signing'] as const satisfies readonly SshKeyUse[];

async function keysPage(
  { person, query }: PersonContext,
  { accounts, clock, config }: AccountDeps,
  form: KeyForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const keys = await accounts.listKeys(person.id);
  return page('account/ssh-keys', {
    keys: keys.map((key) => viewSshKey(key, clock.now(), config.ssh.systemSshd)),
    form,
    refusal,
    notice: viewFlashMessage(query),
  });
}

export const showKeys: Page<PersonContext, AccountDeps> = (context, deps) =>
  keysPage(context, deps, { title: '', key: '', uses: 'both' }, null);

/** Fields `title`, `key`, a whole line of a `.pub` file, and `uses`. */
export const addKey: Page<PersonContext, AccountDeps> = (context, deps) => {
  const { form } = context;
  const input = { title: form.text('title'), key: form.text('key'), uses: oneOf(uses, form.text('uses')) };
  return submitForm(
    async () => {
      await deps.accounts.addKey(context.person.id, {
        title: input.title,
        line: input.key,
        uses: input.uses,
      });
      return seeOther(withFlashMessage('/settings/keys', input.uses === 'signing' ? 'signing-key-added' : 'key-added'));
    },
    (refusal) => keysPage(context, deps, input, refusal),
  );
};

/** Field `uses`. */
export const changeKeyUse: Page<PersonContext, AccountDeps> = async ({ person, params, form }, { accounts }) => {
  const chosen = uses.find((one) => one === form.text('uses'));
  if (chosen === undefined) throw invalid('invalid_key_use', 'Choose what the key is for.', { field: 'uses' });
  await accounts.setKeyUse(person.id, params.id ?? '', chosen);
  return seeOther(withFlashMessage('/settings/keys', 'key-use-changed'));
};

export const removeKey: Page<PersonContext, AccountDeps> = async ({ person, params }, { accounts }) => {
  await accounts.removeKey(person.id, params.id ?? '');
  return seeOther(withFlashMessage('/settings/keys', 'key-removed'));
};
