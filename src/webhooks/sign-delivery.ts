import { createHmac } from 'node:crypto';

/** Gitea distinguishes these by the type of the event only. */
const partsOfIssues = new Set(['issue_label', 'issue_assign', 'issue_milestone']);

/**
 * The headers of a delivery, in Gitea's format and in GitHub's, for receivers of either. The signature is HMAC-SHA256
 * of the body's bytes, in hex.
 * @param secret null for a webhook without one: then there is no signature
 */
export function deliveryHeaders({
  event,
  uuid,
  body,
  secret,
  version,
}: {
  event: string;
  uuid: string;
  body: Buffer;
  secret: string | null;
  version: string;
}): Record<string, string> {
  const name = partsOfIssues.has(event) ? 'issues' : event;
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': `Hearth/${version}`,
    'X-Gitea-Event': name,
    'X-Gitea-Event-Type': event,
    'X-Gitea-Delivery': uuid,
    'X-GitHub-Event': name,
    'X-GitHub-Event-Type': event,
    'X-GitHub-Delivery': uuid,
  };
  if (secret === null) return headers;
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return { ...headers, 'X-Gitea-Signature': signature, 'X-Hub-Signature-256': `sha256=${signature}` };
}
