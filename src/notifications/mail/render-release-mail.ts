import { personViewer } from '../../access/index.ts';
import { layout } from '../../mail/index.ts';
import type { MailMessage, MailPart } from '../../mail/index.ts';
import type { Located } from '../../repositories/index.ts';
import { t } from '../../translation/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import type { ReleaseDetails } from '../schema/notification-schema.ts';
import { footer, listOf } from './mail-parts.ts';
import type { ReachableRecipient } from './mail-parts.ts';
import { unsubscribeToken } from './unsubscribe.ts';

/** A mail of a release with its notes, to a reader of the repository; null if the release is gone. */
export async function renderReleaseMail(
  deps: NotificationDeps,
  { userId, to, urls }: ReachableRecipient,
  { details, reason, repositoryId }: MailPartRow,
  place: Located,
): Promise<MailMessage | null> {
  const { id, tag, title } = JSON.parse(details) as ReleaseDetails;
  const [row]: { body: string }[] = await deps.db.read.query(
    'SELECT body FROM releases WHERE id = ? AND is_draft = 0',
    [id],
  );
  if (row === undefined) return null;
  const name = `${place.owner.handle}/${place.repository.name}`;
  const unsubscribeUrl = urls.unsubscribe(unsubscribeToken(deps, userId, { kind: 'releases' }));
  return {
    to,
    subject: `[${name}] ${t('mails.notifications.is_released', { name: title === '' || title === tag ? tag : `${title} (${tag})` })}`,
    ...layout({
      title: t('mails.notifications.is_released', { name: title || tag }),
      parts: [
        {
          facts: [
            [t('mails.notifications.repository'), name],
            [t('mails.notifications.tag'), tag],
          ],
        },
        ...(row.body === '' ? [] : [await notesOf(deps, userId, place, row.body)]),
      ],
      action: { text: t('mails.notifications.see_the_release'), url: urls.release(place, tag) },
      footer: footer(reason, urls, { text: t('mails.notifications.no_mails_of_releases'), url: unsubscribeUrl }),
    }),
    thread: {
      messageId: `release-${id}@${urls.host}`,
      inReplyTo: `releases-${repositoryId}@${urls.host}`,
      ...listOf(place, urls),
    },
    unsubscribeUrl,
  };
}

async function notesOf(deps: NotificationDeps, userId: string, place: Located, body: string): Promise<MailPart> {
  const viewer = personViewer(userId, 'admin');
  const html = await deps.renderers.markdown?.({ viewer, place, body }).catch(() => null);
  return html
    ? { text: body, html, by: t('mails.notifications.notes') }
    : { quote: body, by: t('mails.notifications.notes') };
}
