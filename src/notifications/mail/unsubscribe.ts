import { personViewer } from '../../access/index.ts';
import { timingSafeEqual } from 'node:crypto';
import { notFound, nullIfNotFound } from '../../kernel/index.ts';
import { changeChannelSettings } from '../channels/settings.ts';
import { reasons } from '../schema/notification-schema.ts';
import type { NotificationDeps } from '../deps.ts';
import type { Reason } from '../schema/notification-schema.ts';

/** Scope of an unsubscription: an issue, failed runs, releases, review requests, or all mails. */
type UnsubscribeTopic =
  | { kind: 'issue'; issueId: string }
  | { kind: 'runs' }
  | { kind: 'releases' }
  | { kind: 'reviews' }
  | { kind: 'all' };

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const shape = new RegExp(`^(${uuid})\\.(runs|releases|reviews|all|issue:(${uuid}))$`);

/**
 * A token for a mail: signed data of the user and the scope. It needs no row and does not expire, because mails do not.
 */
export function unsubscribeToken({ key }: Pick<NotificationDeps, 'key'>, userId: string, topic: UnsubscribeTopic) {
  const text = `${userId}.${topic.kind === 'issue' ? `issue:${topic.issueId}` : topic.kind}`;
  return `${Buffer.from(text).toString('base64url')}.${key.digest('unsubscribe', text)}`;
}

/** Parses a token. Throws `unsubscribe_link_invalid` if this server did not create it. */
export function readUnsubscribeToken(
  { key }: Pick<NotificationDeps, 'key'>,
  token: string,
): { userId: string; topic: UnsubscribeTopic } {
  const [, encoded = '', signature = ''] = /^([\w-]{1,200})\.([0-9a-f]{64})$/.exec(token) ?? [];
  const text = Buffer.from(encoded, 'base64url').toString();
  const [, userId, what, issueId] = shape.exec(text) ?? [];
  const isOurs =
    userId !== undefined && timingSafeEqual(Buffer.from(signature), Buffer.from(key.digest('unsubscribe', text)));
  if (!isOurs) throw notFound('unsubscribe_link_invalid', 'This link is not valid. It may have been cut off.');
  if (issueId !== undefined) return { userId, topic: { kind: 'issue', issueId } };
  return { userId, topic: { kind: what as Exclude<UnsubscribeTopic['kind'], 'issue'> } };
}

const reasonsOf: Readonly<Record<Exclude<UnsubscribeTopic['kind'], 'issue'>, readonly Reason[]>> = {
  runs: ['ci_failed'],
  releases: ['release'],
  reviews: ['review_asked'],
  all: reasons,
};

/**
 * Performs the action of a mail's link, without signing in (RFC 8058); idempotent. Unsubscribes the user from an issue,
 * or turns off mails of failed runs, of releases, of review requests, or all of them. Does nothing for a deleted
 * account or issue. Throws `unsubscribe_link_invalid`.
 */
export async function unsubscribe(deps: NotificationDeps, token: string): Promise<UnsubscribeTopic> {
  const { userId, topic } = readUnsubscribeToken(deps, token);
  const viewer = personViewer(userId, 'admin');
  if ((await deps.accounts.personById(userId).catch(nullIfNotFound)) === null) return topic;
  if (topic.kind === 'issue') {
    const [issue] = await deps.issues.findByIds([topic.issueId]);
    const place = issue && (await deps.repositories.locate([issue.repositoryId])).get(issue.repositoryId);
    if (issue === undefined || place === undefined) return topic;
    const at = { owner: place.owner.handle, name: place.repository.name, number: issue.number };
    await deps.issues.setSubscription(viewer, at, false).catch(nullIfNotFound);
    return topic;
  }
  await changeChannelSettings(deps, viewer, {
    rules: reasonsOf[topic.kind].map((reason) => ({ reason, channel: 'mail', isOn: false })),
  });
  return topic;
}
