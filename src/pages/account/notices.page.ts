import { notFound } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { NoticeKind } from '../../notices/index.ts';
import { translated } from '../../translation/index.ts';
import type { AccountDeps } from './deps.ts';

const here = '/settings/notices';

const words: Record<NoticeKind, { label: string; hint: string }> = translated({
  sign_in: { label: 'account.notices.sign_ins', hint: 'account.notices.from_a_new_device_or_network' },
  password: { label: 'account.notices.password', hint: 'account.notices.changed_by_you_or_by_an' },
  primary_address: {
    label: 'account.notices.primary_email_address',
    hint: 'account.notices.changed_the_notice_goes_to_the',
  },
  ssh_key: { label: 'account.notices.ssh_keys', hint: 'account.notices.added_to_your_account' },
  gpg_key: { label: 'account.notices.gpg_keys', hint: 'account.notices.added_to_your_account' },
  access_token: { label: 'account.notices.access_tokens', hint: 'account.notices.created_for_your_account' },
  second_factor: {
    label: 'account.notices.second_factors',
    hint: 'account.notices.added_removed_a_recovery_code_used',
  },
  access: { label: 'account.notices.access', hint: 'account.notices.granted_to_you_by_others_for' },
});

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
    notice: viewFlashMessage(query),
  });
}

/** Without mail there are no notices, and no page for them. */
function refuseWithoutMail({ notices }: AccountDeps): void {
  if (!notices.isAvailable) throw notFound();
}

/** The mails that a user gets about their account. */
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
      return seeOther(withFlashMessage(here, 'notices-saved'));
    },
    (refusal) => noticesPage(context, deps, refusal),
  );
};
