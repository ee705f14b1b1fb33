import { isDomainError } from '../../kernel/index.ts';
import type { Clock, Logger, Random } from '../../kernel/index.ts';
import type { Outbound, StreamedResponse } from '../../outbound/index.ts';
import type { Readable } from 'node:stream';
import type { StoreMetrics } from '../store-metrics.ts';
import { element } from './parse-response.ts';
import { explainFailure, isTransient, S3Failure, storeUnavailable } from './s3-failure.ts';
import { emptySha256, encodeStrictly, signRequest } from './sign-request.ts';
import type { S3Credentials } from './sign-request.ts';

/** Address of the objects, with time limits and retries. */
interface S3Settings {
  /** An origin. */
  endpoint: string;
  bucket: string;
  region: string;
  /** `path`: the bucket is the first part of the path; `virtual`: a part of the host name. */
  addressing: 'path' | 'virtual';
  /** Time limit of each wait for the store, in milliseconds. */
  timeoutMs: number;
  /** Limit of attempts per request. */
  attempts: number;
}

export interface S3ClientDeps {
  settings: S3Settings;
  credentials: () => Promise<S3Credentials>;
  outbound: Pick<Outbound, 'open'>;
  metrics: StoreMetrics;
  clock: Clock;
  random: Random;
  logger: Logger;
}

export interface S3Request {
  /** Its name in metrics and the log: `put`. */
  verb: string;
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** The name of the object in the bucket; empty for the bucket itself. */
  name: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Opened for each attempt. */
  body?: { bytes: number; sha256: string; open: () => Readable };
  /** Statuses that the caller handles, besides success. */
  understood?: readonly number[];
}

export interface S3Response {
  status: number;
  headers: StreamedResponse['headers'];
  /** For a GET of an object; other responses are already read. */
  stream: Readable;
  /** The text of a response that is not an object. */
  text: string;
}

export interface S3Client {
  /** Reads responses other than objects to their end. Throws `object_store_unavailable`. */
  send(request: S3Request): Promise<S3Response>;
  /** The same for a response with an object, which is streamed. */
  fetch(request: S3Request): Promise<S3Response>;
}

/** Responses other than objects are a list of at most a thousand names, or an error. */
const maxTextBytes = 8 * 1024 * 1024;
const firstWaitMs = 200;
const longestWaitMs = 5_000;
/** Minimum rate of an upload, in bytes per millisecond. */
const slowestUpload = 32;
/**
 * Number of consecutive requests without a response after which the store counts as unavailable: no requests are sent
 * for a moment.
 */
const goneAfter = 3;
const goneForMs = 5_000;

/** Sends signed requests to a bucket, and retries temporary failures. */
export function createS3Client(deps: S3ClientDeps): S3Client {
  const { settings, metrics, clock, random, logger } = deps;
  let unanswered = 0;
  let askAgainAt = 0;

  async function run(request: S3Request, isObject: boolean): Promise<S3Response> {
    const startedAt = performance.now();
    try {
      const answer = await retry(request, isObject);
      metrics.observe(request.verb, 'ok', performance.now() - startedAt);
      return answer;
    } catch (error) {
      metrics.observe(request.verb, 'failed', performance.now() - startedAt);
      if (!(error instanceof S3Failure)) throw error;
      const { verb, name } = request;
      logger.warn('objects.failed', { verb, name, status: error.status, why: explainFailure(error) });
      throw storeUnavailable(error);
    }
  }

  async function retry(request: S3Request, isObject: boolean): Promise<S3Response> {
    if (performance.now() < askAgainAt) throw new S3Failure(0, 'Unreachable', 'it did not answer a moment ago');
    for (let turn = 1; ; turn += 1) {
      try {
        const answer = await attempt(request, isObject);
        unanswered = 0;
        return answer;
      } catch (error) {
        if (!(error instanceof S3Failure)) throw error;
        unanswered = error.status === 0 ? unanswered : 0;
        if (!isTransient(error) || turn >= settings.attempts) {
          if (error.status === 0 && (unanswered += 1) >= goneAfter) askAgainAt = performance.now() + goneForMs;
          throw error;
        }
        metrics.retried(request.verb);
        const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** (turn - 1));
        // Half of the delay is random, so that clients told to slow down do not all return at once.
        await new Promise((resolve) => setTimeout(resolve, wait / 2 + (random.bytes(1)[0]! / 255) * (wait / 2)));
      }
    }
  }

  async function attempt(request: S3Request, isObject: boolean): Promise<S3Response> {
    const { method, name, query = {}, headers = {}, body, understood = [] } = request;
    const url = objectUrl(settings, name, query);
    const contentSha256 = body?.sha256 ?? emptySha256;
    const signed = signRequest(
      { method, url, headers, contentSha256 },
      await deps.credentials(),
      settings.region,
      clock.now(),
    );
    const response = await deps.outbound
      .open({
        method,
        url: url.href,
        headers: signed,
        ...(body === undefined ? {} : { body: { bytes: body.bytes, stream: body.open() } }),
        silenceMs: settings.timeoutMs,
        headMs: settings.timeoutMs + Math.round((body?.bytes ?? 0) / slowestUpload),
      })
      .catch(unreachable);
    const { status } = response;
    if (isObject && status >= 200 && status < 300) return { ...response, text: '' };
    const text = await readText(response.stream).catch(unreachable);
    const isGood = status >= 200 && status < 300;
    const code = element(text, 'Code') ?? codeOf(status);
    // The response to a copy or to the end of a multipart upload starts before the operation ends: an error may follow
    // a 200.
    const isFailed = text.includes('<Error>') || text.includes('<Error ');
    // Most callers handle a missing object, none a missing bucket.
    if ((isGood && !isFailed) || (understood.includes(status) && code !== 'NoSuchBucket')) return { ...response, text };
    throw new S3Failure(isGood ? 500 : status, code, element(text, 'Message') ?? '');
  }

  return { send: (request) => run(request, false), fetch: (request) => run(request, true) };
}

const unreachable = (error: unknown): never => {
  // A connection refused by the rules would be refused again.
  if (isDomainError(error) && error.code !== 'unavailable')
    throw new S3Failure(403, error.reason, error.message, error);
  throw new S3Failure(0, 'Unreachable', error instanceof Error ? error.message : String(error), error);
};

/** A response to HEAD has no text. */
const codeOf = (status: number): string => (status === 403 ? 'AccessDenied' : '');

async function readText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxTextBytes) throw new Error('its answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The URL of an object, or of the bucket if the name is empty. */
export function objectUrl(
  { endpoint, bucket, addressing }: Pick<S3Settings, 'endpoint' | 'bucket' | 'addressing'>,
  name: string,
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(endpoint);
  const path = name.split('/').map(encodeStrictly).join('/');
  if (addressing === 'virtual') url.host = `${bucket}.${url.host}`;
  url.pathname = addressing === 'virtual' ? `/${path}` : `/${bucket}/${path}`.replace(/\/$/, '');
  url.search = Object.entries(query)
    .map(([key, value]) => `${encodeStrictly(key)}=${encodeStrictly(value)}`)
    .join('&');
  return url;
}
