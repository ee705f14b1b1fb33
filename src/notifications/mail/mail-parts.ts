import { nullIfNotFound } from '../../kernel/index.ts';
import type { Located } from '../../repositories/index.ts';
import { chooseLanguage, t } from '../../translation/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import { mailUrls } from './mail-urls.ts';
import type { MailUrls } from './mail-urls.ts';

export interface ReachableRecipient {
  userId: string;
  /** The address that the mail goes to. */
  to: string;
  urls: MailUrls;
  /** The code of the language that the mail is written in. */
  language: string;
}

/** Who is to get a mail: an account that may be written to; null for one that is gone, disabled or has no address. */
export async function recipientOf(deps: NotificationDeps, userId: string): Promise<ReachableRecipient | null> {
  const { baseUrl, locale } = deps.settings;
  const person = await deps.accounts.personById(userId).catch(nullIfNotFound);
  if (baseUrl === null || person === null || person.disabledAt !== null) return null;
  const to = await deps.accounts.addresses.primaryOf(userId);
  return to === null
    ? null
    : { userId, to, urls: mailUrls(baseUrl), language: chooseLanguage(person.language, undefined, locale) };
}

/** The list that mails of a repository belong to (RFC 2919). */
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
