import { isDomainError } from '../../kernel/index.ts';
import type { QueuedMail } from '../../mail/index.ts';
import { notFound } from '../../kernel/index.ts';
import { t, translateTerm } from '../../translation/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';
import { viewMailSettings } from './mail-settings.view.ts';

const here = '/admin/mail';
const perPage = 50;

const states = { queued: 'PENDING', failed: 'FAILED', sent: 'DELIVERED' } as const;
type Tab = keyof typeof states;

const readTab = (text: string | null): Tab => (text !== null && Object.hasOwn(states, text) ? (text as Tab) : 'queued');

/** `?before=1767268800000-17`: the time and the number of the last mail of the previous page. */
function readBefore(text: string | null): { nextAt: number; id: number } | undefined {
  const [, nextAt, id] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? [];
  return nextAt === undefined ? undefined : { nextAt: Number(nextAt), id: Number(id) };
}

async function mailPage(
  { query, form }: PersonContext,
  { mail, config, clock }: AdminDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const tab = readTab(query.get('state'));
  const [found, count] = await Promise.all([
    mail.list({ state: states[tab], limit: perPage + 1, before: readBefore(query.get('before')) }),
    mail.count(),
  ]);
  const shown = found.slice(0, perPage);
  const last = shown.at(-1);
  const counted = (number: number): string => (number >= 1_000 ? '1000+' : String(number));
  return page('admin/mail', {
    isConfigured: mail.isConfigured,
    missing: mail.missing,
    purposes: mail.purposes().map(translateTerm),
    settings: viewMailSettings(config),
    tabs: [
      { name: 'queued', label: t('admin.mail.queued'), count: counted(count.pending) },
      { name: 'failed', label: t('admin.mail.failed'), count: counted(count.failed) },
      { name: 'sent', label: t('admin.mail.sent'), count: null },
    ].map((each) => ({ ...each, url: each.name === 'queued' ? here : `${here}?state=${each.name}` })),
    tab,
    hasFailed: count.failed > 0,
    mails: shown.map((each) => viewMail(each, clock.now())),
    older:
      found.length > perPage && last !== undefined
        ? `${here}?${new URLSearchParams({ state: tab, before: `${last.nextAt}-${last.id}` })}`
        : null,
    form: { to: form.text('to') },
    refusal,
    notice: viewFlashMessage(query),
  });
}

function viewMail({ id, kind, state, attempts, to, subject, ...mail }: QueuedMail, now: number) {
  return {
    id,
    kind,
    title: subject ?? (mail.isDropped ? t('admin.mail.not_sent_no_longer_needed') : t('admin.mail.not_tried_yet')),
    to,
    hasFailed: state === 'FAILED',
    isDone: state === 'DELIVERED',
    attempts:
      attempts === 0
        ? null
        : attempts === 1
          ? t('admin.mail.one_attempt')
          : t('admin.mail.attempts_attempts', { attempts }),
    words: mail.error ?? mail.response,
    next: state === 'PENDING' ? viewTime(mail.nextAt, now) : null,
    created: viewTime(mail.createdAt, now),
  };
}

/** The mail server settings, and mails: `?state=` queued, failed or sent, `?before=`. */
export const showMail: Page<PersonContext, AdminDeps> = (context, deps) => mailPage(context, deps);

/** Field `to`: an address, which immediately gets a test message. */
export const sendTestMail: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.mail.sendTest(context.form.text('to'));
      return seeOther(withFlashMessage(here, 'mail-tested'));
    },
    (refusal) => mailPage(context, deps, refusal),
  );

export const retryMail: Page<PersonContext, AdminDeps> = (context, deps) =>
  retrying(context, deps, () => {
    const { id } = context.params;
    if (id === undefined || !/^[1-9]\d{0,14}$/.test(id)) throw notFound('unknown_message', 'There is no such mail.');
    return deps.mail.retry(Number(id));
  });

export const retryFailedMails: Page<PersonContext, AdminDeps> = (context, deps) =>
  retrying(context, deps, () => deps.mail.retryFailed());

/** A mail that another administrator has already retried is in the desired state. */
const retrying = (context: PersonContext, deps: AdminDeps, retry: () => Promise<unknown>) =>
  submitForm(
    async () => {
      await retry().catch((error: unknown) => {
        if (!isDomainError(error) || error.reason !== 'message_not_failed') throw error;
      });
      deps.mail.wake();
      return seeOther(withFlashMessage(here, 'mail-retried'));
    },
    (refusal) => mailPage(context, deps, refusal),
  );
