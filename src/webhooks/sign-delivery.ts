import { createHmac } from 'node:crypto';

/** Events that Gitea distinguishes only in the header `X-Gitea-Event-Type`. */
const giteaNames: ReadonlyMap<string, string> = new Map([
  ['issue_label', 'issues'],
  ['issue_assign', 'issues'],
  ['issue_milestone', 'issues'],
  ['pull_request_assign', 'pull_request'],
  ['pull_request_label', 'pull_request'],
  ['pull_request_milestone', 'pull_request'],
  ['pull_request_sync', 'pull_request'],
  ['pull_request_review_request', 'pull_request'],
  ['pull_request_comment', 'issue_comment'],
  ['pull_request_review_approved', 'pull_request_approved'],
  ['pull_request_review_rejected', 'pull_request_rejected'],
  ['pull_request_review_comment', 'pull_request_comment'],
]);

/**
 * The headers of a delivery in the formats of Gitea, Forgejo, Gogs and GitHub, for receivers of any of them: Forgejo's
 * clients read its own alone. Signatures are HMACs of the body in hex.
 * @param secret null for a webhook without one, which sends no signature
 */
export function deliveryHeaders({
  event,
  uuid,
  body,
  secret,
}: {
  event: string;
  uuid: string;
  body: Buffer;
  secret: string | null;
}): Record<string, string> {
  // GitHub names the wiki event after its software, Gollum.
  const nameFor = (family: string): string =>
    event === 'gollum' && family !== 'GitHub' ? 'wiki' : (giteaNames.get(event) ?? event);
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    ...Object.fromEntries(
      ['Gitea', 'Forgejo', 'Gogs', 'GitHub'].flatMap((family) => [
        [`X-${family}-Event`, nameFor(family)],
        [`X-${family}-Event-Type`, event === 'gollum' ? nameFor(family) : event],
        [`X-${family}-Delivery`, uuid],
      ]),
    ),
  };
  if (secret === null) return headers;
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    ...headers,
    'X-Gitea-Signature': signature,
    'X-Forgejo-Signature': signature,
    'X-Gogs-Signature': signature,
    // SHA-1 is not broken as an HMAC, and older receivers support nothing else.
    'X-Hub-Signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
    'X-Hub-Signature-256': `sha256=${signature}`,
  };
}
