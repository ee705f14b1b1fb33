import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

interface RequestToSign {
  method: string;
  /** Includes its query, whose values are not encoded twice. */
  url: URL;
  /** All are signed, together with `Host`, `X-Amz-Date` and `X-Amz-Content-Sha256`. */
  headers: Readonly<Record<string, string>>;
  /** SHA-256 of the content, in hex. */
  contentSha256: string;
}

/** Digest of empty content. */
export const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * The headers of a request with its signature: AWS Signature Version 4, for the service `s3`, with the content digest
 * in the signature, so that the store verifies the content.
 * @param now epoch milliseconds
 */
export function signRequest(
  { method, url, headers, contentSha256 }: RequestToSign,
  { accessKeyId, secretAccessKey }: S3Credentials,
  region: string,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const signed: Record<string, string> = { ...headers, 'x-amz-date': time, 'x-amz-content-sha256': contentSha256 };
  const lines = Object.entries({ ...signed, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = lines.map(([name]) => name).join(';');
  const canonical = [
    method,
    encodePath(url.pathname),
    canonicalQuery(url.searchParams),
    ...lines.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    contentSha256,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  signed['authorization'] =
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return signed;
}

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** RFC 3986: `encodeURIComponent` does not encode five characters that a store encodes. */
export const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const encodePath = (path: string): string =>
  path
    .split('/')
    .map((part) => encodeStrictly(decodeURIComponent(part)))
    .join('/');

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join('&');
}
