import type { Readable } from 'node:stream';
import { isRefusal } from '../../kernel/index.ts';
import { readWait } from './read-wait.ts';
import { Again, SourceBusy, sourceFailed } from './source-errors.ts';
import type { ClientDeps, ClientOptions } from './client-options.ts';

const maxRedirects = 3;
const patience = { silenceMs: 60_000, headMs: 60_000 };
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The content of an attached file, which the caller must read to its end or destroy, and its name on the server. */
export interface OpenedFile {
  stream: Readable;
  /** Empty if there is none. */
  name: string;
}

/**
 * Opens an attached file of the other forge, following at most three redirects. Only the origin of the API gets the
 * credentials; a private host is contacted only if it is that origin, since a response could redirect to any private
 * address. Refuses an HTML page in place of the file. Throws `source_failed` with the reason as a message; throws
 * `SourceBusy`, and `Again` for a temporary failure.
 */
export async function openSourceFile(
  { outbound, requests, settings, clock }: ClientDeps,
  { api, headers, signal, blockedUntil, count }: ClientOptions,
  address: string,
): Promise<OpenedFile> {
  const own = new URL(api).origin;
  const { Accept: _, ...credentials } = headers;
  let url = URL.parse(address);
  for (let step = 0; step <= maxRedirects && url !== null; step += 1) {
    signal.throwIfAborted();
    const isOwn: boolean = url.origin === own;
    if (isOwn && (await blockedUntil()) > clock.now()) throw new SourceBusy(await blockedUntil());
    if (!isOwn && settings.isNamed(url)) throw sourceFailed(`it is at ${url.host}, another host of the own network`);
    const leave = await requests.acquire({ host: url.host });
    try {
      count();
      const response = await outbound
        .open({
          method: 'GET',
          url: url.href,
          headers: { Accept: '*/*', ...(isOwn ? credentials : {}) },
          ...patience,
        })
        .catch((error: unknown) => {
          if (!isRefusal(error)) throw error;
          const refusal = sourceFailed(error.message, { cause: error });
          throw error.reason === 'peer_unreachable' ? new Again(refusal) : refusal;
        });
      const { status, stream } = response;
      if (status === 200 && !/^text\/html\b/i.test(response.headers['content-type'] ?? ''))
        return { stream: stopWith(signal, stream), name: nameOf(response.headers['content-disposition']) };
      stream.destroy();
      if (status === 200) throw sourceFailed(`${url.host} answered with a page instead of the file`);
      const until = readWait({ status, headers: response.headers, body: Buffer.alloc(0) }, clock.now());
      if (until !== null && isOwn) throw new SourceBusy(until);
      if (status >= 500) throw new Again(sourceFailed(describeStatus(url.host, status)));
      if (!redirects.has(status)) throw sourceFailed(describeStatus(url.host, status));
      url = URL.parse(response.headers.location ?? '', url.href);
    } finally {
      leave();
    }
  }
  throw sourceFailed('it has no address that can be followed');
}

function describeStatus(host: string, status: number): string {
  if (status === 404 || status === 410) return `${host} does not have it any more, or hides it`;
  if (status === 401 || status === 403) return `${host} does not show it to this token`;
  return `${host} answered with status ${status}`;
}

/** RFC 6266: the form with `*` takes precedence. */
function nameOf(disposition: string | undefined): string {
  const text = (disposition ?? '').slice(0, 2_000);
  const [, encoded] = /filename\*\s*=\s*(?:utf-8)''([^;\s]{1,600})/i.exec(text) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    // Falls back to the plain name.
  }
  return /filename\s*=\s*"((?:[^"\\]|\\.){1,300})"/i.exec(text)?.[1]?.replace(/\\(.)/g, '$1') ?? '';
}

/** A stopping server does not wait for a long file. */
function stopWith(signal: AbortSignal, stream: Readable): Readable {
  const stop = (): void => void stream.destroy(new Error('the server stops'));
  signal.addEventListener('abort', stop, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', stop));
  return stream;
}
