import { nullIfNotFound } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import { chooseLanguage, t } from '../../translation/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import { mailUrls } from './mail-urls.ts';
import type { MailUrls } from './mail-urls.ts';

export interface ReachableRecipient {
  userId: string;
  /** Recipient address of the mail. */
  to: string;
  urls: MailUrls;
  /** Language code of the mail. */
  language: string;
}

/** Recipient of a mail: an account that can receive mail; null if it is deleted, disabled or has no address. */
export async function recipientOf(deps: NotificationDeps, userId: string): Promise<ReachableRecipient | null> {
  const { baseUrl, locale } = deps.settings;
  const person = await deps.accounts.personById(userId).catch(nullIfNotFound);
  if (baseUrl === null || person === null || person.disabledAt !== null) return null;
  const to = await deps.accounts.addresses.primaryOf(userId);
  return to === null
    ? null
    : { userId, to, urls: mailUrls(baseUrl), language: chooseLanguage(person.language, undefined, locale) };
}

/** Mailing list id of a repository's mails (RFC 2919). */
export const listOf = ({ owner, repository }: Located, { host }: MailUrls) => ({
  listId: `${repository.name}.${owner.handle}.${host}`,
  listName: `${owner.handle}/${repository.name}`,
});

export const footer = (
  reason: MailPartRow['reason'],
  { settings }: MailUrls,
  unsubscribe: { text: string; url: string },
) => [
  t(`mails.notifications.footer.${reason}`),
  unsubscribe,
  { text: t('mails.notifications.settings'), url: settings },
];
