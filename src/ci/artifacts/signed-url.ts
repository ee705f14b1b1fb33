import { createHmac, timingSafeEqual } from 'node:crypto';
import { forbidden } from '../../kernel/index.ts';
import type { InstanceKey } from '../../sealing/index.ts';

/** Permission that a signed URL of an artifact gives to anyone who has it. */
interface SignedUrl {
  method: 'GET' | 'PUT';
  repositoryId: string;
  artifactId: number;
  taskId: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Each part is prefixed by its length, so that no two different requests have the same text (security H04). */
function signatureOf(key: InstanceKey, { method, repositoryId, artifactId, taskId, expiresAt }: SignedUrl): string {
  const parts = [method, repositoryId, artifactId, taskId, expiresAt].map(String);
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return createHmac('sha256', key.for('artifact link')).update(text).digest('base64url');
}

/** The query of a signed URL. */
export function signUrl(key: InstanceKey, link: SignedUrl): URLSearchParams {
  return new URLSearchParams({
    sig: signatureOf(key, link),
    expires: String(link.expiresAt),
    repository: link.repositoryId,
    artifact: String(link.artifactId),
    task: String(link.taskId),
  });
}

/**
 * Returns the permission of a signed URL if this server signed it for this method and it has not expired. Throws
 * `bad_artifact_link` for every cause.
 */
export function verifyUrl(
  key: InstanceKey,
  method: SignedUrl['method'],
  query: URLSearchParams,
  now: number,
): SignedUrl {
  const number = (name: string): number => (/^\d{1,15}$/.test(query.get(name) ?? '') ? Number(query.get(name)) : NaN);
  const link = {
    method,
    repositoryId: query.get('repository') ?? '',
    artifactId: number('artifact'),
    taskId: number('task'),
    expiresAt: number('expires'),
  };
  const expected = Buffer.from(signatureOf(key, link));
  const given = Buffer.from(query.get('sig') ?? '');
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  if (!isOurs || !(link.expiresAt > now)) throw forbidden('bad_artifact_link', 'This link is invalid or has expired.');
  return link;
}
