import { notFound } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { NoticeKind } from '../../notices/index.ts';
import type { AccountDeps } from './deps.ts';

const here = '/settings/notices';

const words: Record<NoticeKind, { label: string; hint: string }> = {
  sign_in: { label: 'Sign-ins', hint: 'From a device or a network that was not seen before' },
  password: { label: 'Password', hint: 'Changed by you or by an administrator' },
  primary_address: { label: 'Primary e-mail address', hint: 'Changed; the notice goes to the old one' },
  ssh_key: { label: 'SSH keys', hint: 'Added to your account' },
  gpg_key: { label: 'GPG keys', hint: 'Added to your account' },
  access_token: { label: 'Access tokens', hint: 'Made for your account' },
  second_factor: {
    label: 'Second factors',
    hint: 'Added, removed, a recovery code used, or wrong codes after your password',
  },
  access: { label: 'Access', hint: 'To a repository, an organisation or a team, given to you by others' },
};

async function noticesPage(
  { person, query }: PersonContext,
  { notices, accounts }: AccountDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const [muted, address] = await Promise.all([notices.mutedBy(person.id), accounts.addresses.primaryOf(person.id)]);
  return page('account/notices', {
    address,
    kinds: notices.kinds.map((kind) => ({ kind, ...words[kind], isOn: !muted.has(kind) })),
    refusal,
    notice: viewNotice(query),
  });
}

/** Without mail there are no notices, and no page about them. */
function refuseWithoutMail({ notices }: AccountDeps): void {
  if (!notices.isAvailable) throw notFound();
}

/** Which mails a person gets about their account. */
export const showNotices: Page<PersonContext, AccountDeps> = (context, deps) => {
  refuseWithoutMail(deps);
  return noticesPage(context, deps);
};

/** Fields `kind`, one for each kind that stays on. */
export const saveNotices: Page<PersonContext, AccountDeps> = (context, deps) => {
  refuseWithoutMail(deps);
  return submitForm(
    async () => {
      const chosen = context.form.all('kind');
      await deps.notices.setMuted(
        context.person.id,
        deps.notices.kinds.filter((kind) => !chosen.includes(kind)),
      );
      return seeOther(withNotice(here, 'notices-saved'));
    },
    (refusal) => noticesPage(context, deps, refusal),
  );
};
