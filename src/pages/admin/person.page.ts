import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** The submitted form of the page. */
type PersonForm = 'link' | 'rename' | 'administrator' | 'disabled' | 'delete';

const people = '/admin/people';
const pageOf = (id: string): string => `${people}/${encodeURIComponent(id)}`;

interface Input {
  which: PersonForm;
  refusal: FormRefusal;
}

async function personPage(
  { person: self, params, query, form }: PersonContext,
  { accounts, config, federation, clock }: AdminDeps,
  input?: Input,
): Promise<PageReply> {
  const person = await accounts.personById(params.id ?? '');
  const { id, username, displayName, isAdministrator, disabledAt, lastSeenAt, createdAt, secondFactorAt } = person;
  const [hasPassword, addresses, followers] = await Promise.all([
    accounts.hasPassword(id),
    accounts.addresses.list(id),
    federation.countFollowers({ owner: { kind: 'user', id } }),
  ]);
  const now = clock.now();
  return page('admin/person', {
    person: {
      username,
      displayName,
      isAdministrator,
      isDisabled: disabledAt !== null,
      isSelf: id === self.id,
      hasPassword,
      hasSecondFactor: secondFactorAt !== null,
      address: addresses.find(({ isPrimary }) => isPrimary)?.address ?? null,
      avatar: viewAvatar(id),
      joined: viewTime(createdAt, now),
      seen: lastSeenAt === null ? null : viewTime(lastSeenAt, now),
      disabled: disabledAt === null ? null : viewTime(disabledAt, now),
    },
    /** The text to type before the account is deleted. */
    name: username ?? id,
    self: pageOf(id),
    canSetPasswords: config.accounts.passwordSignIn,
    followers,
    form: {
      username: input?.which === 'rename' ? form.text('username') : (username ?? ''),
      confirm: form.text('confirm'),
    },
    which: input?.which ?? null,
    refusal: input?.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

/**
 * A form of this page; when refused, it is shown with the submitted values. Throws `unknown_person` before anything
 * else.
 */
const personForm =
  (
    which: PersonForm,
    act: (id: string, context: PersonContext, deps: AdminDeps) => Promise<Reply>,
  ): Page<PersonContext, AdminDeps> =>
  async (context, deps) => {
    const { id } = await deps.accounts.personById(context.params.id ?? '');
    return submitForm(
      () => act(id, context, deps),
      (refusal) => personPage(context, deps, { which, refusal }),
      { handle: 'username' },
    );
  };

/** `/admin/people/{id}`: an account, with the actions of an administrator. */
export const showPerson: Page<PersonContext, AdminDeps> = (context, deps) => personPage(context, deps);

/** Creates a link with which the user chooses a password, and redirects to the page that shows it once. */
export const makeResetLink = personForm('link', async (id, { person, origin }, { accounts, oneTimeSecrets }) => {
  const { secret } = await accounts.makeResetLink(id);
  const value = `${origin}/login/reset?token=${encodeURIComponent(secret)}`;
  return seeOther(`${pageOf(id)}/secret/${await oneTimeSecrets.store(person.id, { name: 'link', value })}`);
});

/** Field `username`. The old one stays reserved and redirects (security E07). */
export const renamePerson = personForm('rename', async (id, { form }, { accounts }) => {
  await accounts.renamePerson(id, form.text('username').trim());
  return seeOther(withFlashMessage(pageOf(id), 'person-renamed'));
});

/** Field `confirm`, the username, or the id of a user without one. */
export const deletePerson = personForm('delete', async (id, { form, person: self }, { accounts }) => {
  const { username } = await accounts.personById(id);
  const name = username ?? id;
  if (form.text('confirm').trim() !== name)
    throw invalid('wrong_confirmation', `Type ${name} to confirm.`, { field: 'confirm' });
  if (id === self.id) throw invalid('own_account', 'Delete your own account in your settings.', { field: 'confirm' });
  await accounts.deletePerson(id);
  return seeOther(withFlashMessage(people, 'person-deleted'));
});
