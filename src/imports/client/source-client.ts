import type { OutboundResponse } from '../../outbound/index.ts';
import { DomainError, isDomainError } from '../../kernel/index.ts';
import type { ClientDeps, ClientOptions } from './client-options.ts';
import { openSourceFile } from './open-source-file.ts';
import type { OpenedFile } from './open-source-file.ts';
import { readWait } from './read-wait.ts';
import { Again, SourceBusy, sourceFailed, sourceRefused } from './source-errors.ts';

interface Answer {
  status: number;
  /** Null for 304 and for an absent resource. */
  json: unknown;
  headers: OutboundResponse['headers'];
}

type Method = 'GET' | 'PATCH' | 'POST' | 'DELETE';

/** Fifty issues with texts of 64 KiB and JSON escapes, plus a comment of one megabyte. */
const maxAnswerBytes = 16 * 1024 * 1024;
const maxRedirects = 3;
/** GitHub returns 422 for an expired cursor. */
const withoutContent: ReadonlySet<number> = new Set([204, 304, 404, 410, 422]);

/**
 * A client for the API of another forge. Sends requests one after the other and retries a few times after network
 * errors, server errors (5xx) and truncated responses. Rate limits are thrown as `SourceBusy`, with the time that the
 * other server gives. Only the origin of the API gets the credentials.
 */
export class SourceClient {
  readonly #deps: ClientDeps;
  readonly #options: ClientOptions;
  /** Time of the other server in its latest response; epoch milliseconds. */
  serverTime: number | null = null;

  constructor(deps: ClientDeps, options: ClientOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  get host(): string {
    return new URL(this.#options.api).host;
  }

  /** Throws `source_failed`, `source_refused`; throws `SourceBusy`. Null for an absent resource (404, 410). */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#send('GET', this.#url(path), headers);
  }

  /** Sends a change once, without retries. Refuses as `get` does. */
  async change(method: 'PATCH' | 'POST' | 'DELETE', path: string, body: object): Promise<Answer> {
    return this.#send(method, this.#url(path), {}, Buffer.from(JSON.stringify(body)));
  }

  /** Whether what fails is to be left out rather than asked for again. */
  get hasWaited(): boolean {
    return this.#options.hasWaited?.() ?? false;
  }

  /** Whether requests have credentials. */
  get hasToken(): boolean {
    return 'Authorization' in this.#options.headers;
  }

  /**
   * Asks a GraphQL API, with retries. Refuses as `get` does; throws `SourceBusy`, also for a limit that has status 200.
   * @returns `data` of the answer, null without it
   */
  async query(address: string, body: object): Promise<unknown> {
    const { json, headers } = await this.#send('POST', this.#url(address), {}, Buffer.from(JSON.stringify(body)), true);
    if (json === null || typeof json !== 'object') return null;
    const { data = null, errors } = json as { data?: unknown; errors?: unknown };
    const isLimit =
      Array.isArray(errors) && errors.some((error: { type?: unknown } | null) => error?.type === 'RATE_LIMITED');
    const wait = isLimit ? readWait({ status: 429, headers, body: Buffer.alloc(0) }, this.#deps.clock.now()) : null;
    if (wait !== null) throw new SourceBusy(wait);
    return data;
  }

  /**
   * Opens an attached file at the first of its URLs that has it. Refuses as `openSourceFile` does for the last URL;
   * throws `SourceBusy`.
   */
  async openFile(addresses: readonly string[]): Promise<OpenedFile> {
    let refusal: unknown = sourceFailed('it has no address that can be followed');
    for (const address of addresses)
      for (let tries = 0; ; tries += 1)
        try {
          return await openSourceFile(this.#deps, this.#options, address);
        } catch (error) {
          refusal = error instanceof Again ? error.refusal : error;
          if (!isDomainError(refusal) || refusal.reason !== 'source_failed') throw error;
          const wait = this.#deps.settings.retryMs[tries];
          if (!(error instanceof Again) || wait === undefined) break;
          await pause(wait, this.#options.signal);
        }
    throw refusal;
  }

  #url(path: string): URL {
    return new URL(/^https?:\/\//.test(path) ? path : `${this.#options.api}${path}`);
  }

  /** @param mayRepeat whether it changes nothing there, so that it can be sent again */
  async #send(
    method: Method,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body?: Buffer,
    mayRepeat = method === 'GET',
  ): Promise<Answer> {
    const { signal, blockedUntil } = this.#options;
    for (let tries = 0; ; tries += 1) {
      signal.throwIfAborted();
      const until = await blockedUntil();
      if (until > this.#deps.clock.now()) throw new SourceBusy(until);
      try {
        return await this.#attempt(method, url, headers, body);
      } catch (error) {
        const wait = this.#deps.settings.retryMs[tries];
        if (!(error instanceof Again) || wait === undefined || !mayRepeat) {
          throw error instanceof Again ? error.refusal : error;
        }
        this.#deps.logger.warn('import.request_again', { host: url.host, tries: tries + 1, error: error.refusal });
        await pause(wait, signal);
      }
    }
  }

  async #attempt(
    method: Method,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: Buffer | undefined,
  ): Promise<Answer> {
    let address = url;
    for (let step = 0; ; step += 1) {
      const response = await this.#once(method, address, headers, body);
      const { status } = response;
      if (status < 300 || status >= 400 || status === 304) return this.#read(address, response);
      const next = URL.parse(response.headers.location ?? '', address.href);
      // RFC 9110, 15.4: the others may turn a change into a GET.
      const keepsMethod = method === 'GET' || status === 307 || status === 308;
      if (!keepsMethod || step >= maxRedirects || next === null)
        throw sourceFailed(`${address.host} answered with a redirect that cannot be followed.`);
      if (next.origin !== address.origin)
        throw sourceFailed(`${address.host} redirects to ${next.host}, which is not followed.`);
      address = next;
    }
  }

  async #once(
    method: Method,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: Buffer | undefined,
  ): Promise<OutboundResponse> {
    const { outbound, requests } = this.#deps;
    const { api, headers: own, signal, count } = this.#options;
    const isOwn = url.origin === new URL(api).origin;
    const leave = await requests.acquire({ host: url.host });
    try {
      count();
      return await outbound.send({
        method,
        url: url.href,
        headers: {
          Accept: 'application/json',
          ...(isOwn ? own : {}),
          ...headers,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
        maxBytes: maxAnswerBytes,
        signal,
      });
    } catch (error) {
      if (isDomainError(error) && error.reason === 'peer_unreachable') {
        signal.throwIfAborted();
        throw new Again(sourceFailed(error.message, { cause: error }));
      }
      throw error instanceof DomainError && error.code !== 'internal'
        ? sourceFailed(error.message, { cause: error })
        : error;
    } finally {
      leave();
    }
  }

  #read(url: URL, response: OutboundResponse): Answer {
    const { status, headers, body } = response;
    const now = this.#deps.clock.now();
    const date = Date.parse(String(headers.date ?? ''));
    if (!Number.isNaN(date)) this.serverTime = date;
    const until = readWait(response, now);
    if (until !== null) throw new SourceBusy(until);
    if (status >= 500) throw new Again(sourceFailed(`${url.host} answered with status ${status}.`));
    if (status === 401 || status === 403) throw sourceRefused(url.host, status);
    if (withoutContent.has(status)) return { status, json: null, headers };
    if (status >= 400) throw sourceFailed(`${url.host} answered ${url.pathname} with status ${status}.`);
    try {
      return { status, json: JSON.parse(body.toString('utf8')), headers };
    } catch {
      throw new Again(sourceFailed(`The answer of ${url.host} to ${url.pathname} is not JSON, or is cut off.`));
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
