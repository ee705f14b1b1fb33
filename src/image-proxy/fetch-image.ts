import { isDomainError, unavailable } from '../kernel/index.ts';
import type { Outbound } from '../outbound/index.ts';
import { proxiedType } from './proxied-type.ts';
import type { ProxiedType } from './proxied-type.ts';

/** Validators of an earlier response (ETag, Last-Modified), for a conditional request. */
export interface ImageValidators {
  etag: string | null;
  lastModified: string | null;
}

type FetchedImage =
  | ({ kind: 'image'; type: ProxiedType; bytes: Buffer; freshMs: number } & ImageValidators)
  | { kind: 'unchanged'; freshMs: number };

interface FetchOptions {
  known: ImageValidators | null;
  maxBytes: number;
  /** For all redirects together. */
  deadlineMs: number;
}

const maxRedirects = 4;
/** Between a badge that asks not to be cached at all, and one that is declared immutable; in milliseconds. */
const [minFreshMs, maxFreshMs] = [5 * 60_000, 24 * 60 * 60_000];

/**
 * Fetches an image, following redirects, each checked as the first address was. Tells the other server nothing of the
 * viewer. Throws `image_not_there`, `image_type_refused`, `too_many_redirects`, and what `outbound.send` refuses.
 */
export async function fetchImage(
  outbound: Outbound,
  url: string,
  { known, maxBytes, deadlineMs }: FetchOptions,
): Promise<FetchedImage> {
  const headers = {
    Accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif,image/svg+xml',
    ...(known?.etag ? { 'If-None-Match': known.etag } : {}),
    ...(known?.lastModified && !known.etag ? { 'If-Modified-Since': known.lastModified } : {}),
  };
  const signal = AbortSignal.timeout(deadlineMs);
  let at = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const {
      status,
      headers: responseHeaders,
      body,
    } = await outbound.send({ method: 'GET', url: at, headers, maxBytes, signal });
    const freshMs = freshnessOf(responseHeaders['cache-control']);
    if (status === 304 && known !== null) return { kind: 'unchanged', freshMs };
    if ([301, 302, 303, 307, 308].includes(status) && responseHeaders.location !== undefined) {
      at = URL.parse(responseHeaders.location, at)?.href ?? '';
      continue;
    }
    if (status !== 200) throw unavailable('image_not_there', `The image’s server responded with status ${status}.`);
    const type = proxiedType(responseHeaders['content-type'], body);
    if (type === null)
      throw unavailable('image_type_refused', 'The address does not return an image of a supported type.');
    const text = (value: string | undefined): string | null =>
      value !== undefined && value.length < 200 ? value : null;
    return {
      kind: 'image',
      type,
      bytes: body,
      freshMs,
      etag: text(responseHeaders.etag),
      lastModified: text(responseHeaders['last-modified']),
    };
  }
  throw unavailable('too_many_redirects', 'The address of the image redirects too many times.');
}

/** RFC 9111: `s-maxage` and `max-age`, within our bounds. */
function freshnessOf(cacheControl: string | undefined): number {
  const seconds =
    /(?:^|[\s,])s-maxage=(\d{1,10})/i.exec(cacheControl ?? '') ?? /max-age=(\d{1,10})/i.exec(cacheControl ?? '');
  const isUnkept = /\bno-(?:store|cache)\b/i.test(cacheControl ?? '');
  const wished = isUnkept || seconds === null ? 0 : Number(seconds[1]) * 1000;
  return Math.min(maxFreshMs, Math.max(minFreshMs, wished));
}

/** Whether the guard refused an address, rather than the other server having failed. */
export const isGuardRefusal = (error: unknown): boolean =>
  isDomainError(error) && (error.code === 'forbidden' || error.code === 'invalid');
