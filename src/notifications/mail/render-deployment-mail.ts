import { layout } from '../../mail/index.ts';
import { shortRef } from '../../kernel/index.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { Located } from '../../repositories/index.ts';
import { t } from '../../translation/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import type { DeploymentDetails } from '../schema/notification-schema.ts';
import { footer, listOf } from './mail-parts.ts';
import type { ReachableRecipient } from './mail-parts.ts';
import { unsubscribeToken } from './unsubscribe.ts';

/** A mail to a reviewer of an environment; null if the user may no longer decide or nothing waits there. */
export async function renderDeploymentMail(
  deps: NotificationDeps,
  { userId, to, urls }: ReachableRecipient,
  { details, reason, repositoryId, lastPosition }: MailPartRow,
  place: Located,
): Promise<MailMessage | null> {
  const { number, workflow, title, ref, sha, environment } = JSON.parse(details) as DeploymentDetails;
  const reviewers = await deps.ci.environments.reviewersOfRun(place.repository, number, environment);
  if (!reviewers.includes(userId)) return null;
  const name = `${place.owner.handle}/${place.repository.name}`;
  const unsubscribeUrl = urls.unsubscribe(unsubscribeToken(deps, userId, { kind: 'reviews' }));
  return {
    to,
    subject: `[${name}] ${t('mails.notifications.deployment_subject', { environment, title })}`,
    ...layout({
      title: t('mails.notifications.deployment_waits', { environment }),
      parts: [
        {
          facts: [
            [t('mails.notifications.repository'), name],
            [t('mails.notifications.environment'), environment],
            [
              t('mails.notifications.run'),
              t('mails.notifications.run_on', { workflow, number: String(number), ref: shortRef(ref) }),
            ],
            [t('mails.notifications.commit'), `${sha.slice(0, 10)} ${title}`],
          ],
        },
      ],
      action: { text: t('mails.notifications.approve_or_reject_it'), url: urls.run(place, number) },
      footer: footer(reason, urls, { text: t('mails.notifications.no_mails_of_reviews'), url: unsubscribeUrl }),
    }),
    thread: {
      messageId: `deployment-${repositoryId}.${number}.${lastPosition}@${urls.host}`,
      inReplyTo: `deployment-${repositoryId}.${number}@${urls.host}`,
      ...listOf(place, urls),
    },
    unsubscribeUrl,
  };
}
