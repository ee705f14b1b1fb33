import http from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { unavailable } from '../kernel/index.ts';
import { networkErrorMessage } from './network-error-message.ts';
import { withUserAgent } from './user-agent.ts';
import { Refused, timedOut, watchConnecting } from './send-request.ts';
import type { Transport } from './send-request.ts';

/** A request whose content or response is too large for memory. */
export interface StreamedRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Content with its size in bytes. The stream is destroyed if the request ends before it was read. */
  body?: { bytes: number; stream: Readable };
  /**
   * Limit in milliseconds of each wait for the other server: for reading content, for the response headers, for the
   * next bytes.
   */
  silenceMs: number;
  /** Limit in milliseconds from the start to the response headers, including sending the content. */
  headMs: number;
}

export interface StreamedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Must be read to its end or destroyed. Fails with `peer_unreachable` if the connection is interrupted or silent. */
  stream: Readable;
}

/**
 * Sends one request and returns once the response headers have arrived. A reader of the response may be slow: only
 * silence of the other server counts. Throws the errors of `sendRequest`. Also fails if a reused connection was just
 * closed, because a stream cannot be sent twice.
 */
export async function openRequest(url: URL, request: StreamedRequest, wire: Transport): Promise<StreamedResponse> {
  const failed = (thrown: unknown): unknown =>
    thrown instanceof Refused
      ? thrown.cause
      : unavailable('peer_unreachable', `${url.host} did not respond: ${networkErrorMessage(thrown)}.`, {
          cause: thrown,
        });
  try {
    const response = await attempt(url, request, wire);
    const { statusCode = 0, headers } = response;
    return { status: statusCode, headers, stream: Readable.from(read(response, request.silenceMs, failed), bytesOnly) };
  } catch (error) {
    throw failed(error);
  }
}

/** Two chunks ahead of the reader are enough; the default is sixteen. */
const bytesOnly = { objectMode: true, highWaterMark: 2 };

function attempt(
  url: URL,
  { method, headers, body, silenceMs, headMs }: StreamedRequest,
  wire: Transport,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const isPlain = url.protocol === 'http:';
    const hasBody = method === 'PUT' || method === 'POST';
    const sent = (isPlain ? http : https).request(url, {
      method,
      headers: {
        ...withUserAgent(headers, wire.userAgent),
        'Accept-Encoding': 'identity',
        ...(hasBody ? { 'Content-Length': String(body?.bytes ?? 0) } : {}),
      },
      agent: isPlain ? wire.agents.http : wire.agents.https,
      lookup: wire.lookup,
    });
    const deadline = setTimeout(() => sent.destroy(timedOut('no answer in time')), headMs);
    sent.setTimeout(silenceMs, () => sent.destroy(timedOut('silence')));
    const end = (): void => {
      clearTimeout(deadline);
      sent.setTimeout(0);
      body?.stream.destroy();
    };
    sent.once('socket', (socket) => watchConnecting(sent, socket, wire));
    sent.on('error', (error) => {
      end();
      reject(error);
    });
    sent.once('response', (response) => {
      // A response before all content was read ends the connection: the rest would be taken for the next request.
      if (!sent.writableFinished) response.once('close', () => sent.destroy());
      end();
      resolve(response);
    });
    if (body === undefined) return void sent.end();
    body.stream.once('error', (error) => sent.destroy(error));
    body.stream.pipe(sent);
  });
}

/** The content as it arrives, with a time limit for each wait, but none for a slow reader. */
async function* read(
  response: IncomingMessage,
  silenceMs: number,
  failed: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const silence = setTimeout(() => response.destroy(timedOut('silence')), silenceMs);
      const next = await chunks.next().finally(() => clearTimeout(silence));
      if (next.done === true) break;
      yield next.value;
    }
    if (!response.complete) throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' });
  } catch (error) {
    throw failed(error);
  } finally {
    response.destroy();
  }
}
