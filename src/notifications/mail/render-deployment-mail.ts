import { layout } from '../../mail/index.ts';
import { shortRef } from '../../kernel/index.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { NotificationDeps } from '../deps.ts';
import type { MailPartRow } from '../schema/channel-schema.ts';
import type { DeploymentDetails } from '../schema/notification-schema.ts';
import { footer, listOf } from './mail-parts.ts';
import type { ReachableRecipient } from './mail-parts.ts';
import { unsubscribeToken } from './unsubscribe.ts';

/** A mail to a reviewer of an environment; null once the person may not decide or nothing waits there. */
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
    subject: `[${name}] Deployment to ${environment} waits for a review: ${title}`,
    ...layout({
      title: `A deployment to ${environment} waits for a review`,
      parts: [
        {
          facts: [
            ['Repository', name],
            ['Environment', environment],
            ['Run', `${workflow} ${number} on ${shortRef(ref)}`],
            ['Commit', `${sha.slice(0, 10)} ${title}`],
          ],
        },
      ],
      action: { text: 'Approve or reject it', url: urls.run(place, number) },
      footer: footer(reason, urls, { text: 'No mails of asked reviews', url: unsubscribeUrl }),
    }),
    thread: {
      messageId: `deployment-${repositoryId}.${number}.${lastPosition}@${urls.host}`,
      inReplyTo: `deployment-${repositoryId}.${number}@${urls.host}`,
      ...listOf(place, urls),
    },
    unsubscribeUrl,
  };
}
