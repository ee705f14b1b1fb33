import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submit, type FormRefusal } from '../app/submit.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { viewSshKey } from './ssh-key.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

interface KeyForm {
  title: string;
  key: string;
}

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
    notice: viewNotice(query),
  });
}

export const showKeys: Page<PersonContext, AccountDeps> = (context, deps) =>
  keysPage(context, deps, { title: '', key: '' }, null);

/** Fields `title` and `key`, a whole line of a `.pub` file. */
export const addKey: Page<PersonContext, AccountDeps> = (context, deps) => {
  const input = { title: context.form.text('title'), key: context.form.text('key') };
  return submit(
    async () => {
      await deps.accounts.addKey(context.person.id, { title: input.title, line: input.key });
      return seeOther(withNotice('/settings/keys', 'key-added'));
    },
    (refusal) => keysPage(context, deps, input, refusal),
  );
};

export const removeKey: Page<PersonContext, AccountDeps> = async ({ person, params }, { accounts }) => {
  await accounts.removeKey(person.id, params.id ?? '');
  return seeOther(withNotice('/settings/keys', 'key-removed'));
};
