import { createHash, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { formatHttpDate } from './http-date.ts';
import { signatureBase } from './message-signature.ts';
import type { RequestToSign, SigningKey } from './sign-request.ts';

const signInThreadPool = promisify(sign);

/**
 * Signs a request by RFC 9421 (`rsa-v1_5-sha256`): the method, the URL and, for a POST, the content digest, with the
 * time and the key. Runs in the thread pool.
 * @returns the headers to send
 */
export async function signMessage(
  { method, url, body, at }: Pick<RequestToSign, 'method' | 'url' | 'at'> & { body?: Buffer },
  key: SigningKey,
): Promise<Record<string, string>> {
  const content: Record<string, string> =
    body === undefined ? {} : { 'Content-Digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:` };
  const covered = ['@method', '@target-uri', ...Object.keys(content).map((name) => name.toLowerCase())];
  const created = Math.floor(at / 1000);
  const list = covered.map((name) => `"${name}"`).join(' ');
  const parameters = `(${list});created=${created};keyid="${key.keyId}";alg="rsa-v1_5-sha256"`;
  const base = signatureBase(covered, parameters, {
    method,
    target: url.pathname + url.search,
    origin: url.origin,
    headers: new Map(Object.entries(content).map(([name, value]) => [name.toLowerCase(), value])),
  });
  const signature = await signInThreadPool('RSA-SHA256', Buffer.from(base, 'latin1'), key.privateKey);
  return {
    Host: url.host,
    Date: formatHttpDate(at),
    ...content,
    'Signature-Input': `sig1=${parameters}`,
    Signature: `sig1=:${signature.toString('base64')}:`,
  };
}
