import http from 'node:http';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { unavailable } from '../kernel/index.ts';
import { networkErrorMessage } from './network-error-message.ts';
import { withUserAgent } from './user-agent.ts';

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
  /** Size limit of the response in bytes. */
  maxBytes: number;
  /** Aborts early; the whole request is limited by `totalMs` in any case. */
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Transport {
  agents: { http: http.Agent; https: https.Agent };
  lookup: LookupFunction;
  userAgent: string;
  /** Checks the address of the actual connection; throws to abort it. */
  checkAddress(address: string): void;
  connectMs: number;
  totalMs: number;
}

export const timedOut = (what: string): Error => Object.assign(new Error(what), { code: 'ETIMEDOUT' });

/**
 * Sends one request and reads the whole response, within `totalMs`. Redirects and errors of the other server are
 * ordinary responses. Throws `peer_unreachable` for network errors, `answer_too_large`, `answer_encoded`, and the
 * errors of `checkAddress`.
 */
export async function sendRequest(url: URL, request: OutboundRequest, wire: Transport): Promise<OutboundResponse> {
  try {
    return await attempt(url, request, wire).catch((error: unknown) => {
      // An idle connection may have been closed just as it was reused, which says nothing about the host.
      if (!(error instanceof StaleConnection)) throw error;
      return attempt(url, request, wire);
    });
  } catch (thrown) {
    const error = thrown instanceof StaleConnection ? thrown.cause : thrown;
    if (error instanceof Refused) throw error.cause;
    throw unavailable('peer_unreachable', `${url.host} did not respond: ${networkErrorMessage(error)}.`, {
      cause: error,
    });
  }
}

/** Carries an error of `checkAddress` through the error events of a socket. */
export class Refused extends Error {}
class StaleConnection extends Error {}

function attempt(
  url: URL,
  { method, headers, body, maxBytes, signal }: OutboundRequest,
  wire: Transport,
): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const isPlain = url.protocol === 'http:';
    const sent = (isPlain ? http : https).request(url, {
      method,
      headers: {
        ...withUserAgent(headers, wire.userAgent),
        'Accept-Encoding': 'identity',
        ...(body === undefined ? {} : { 'Content-Length': String(body.length) }),
      },
      agent: isPlain ? wire.agents.http : wire.agents.https,
      lookup: wire.lookup,
    });
    const deadline = setTimeout(() => sent.destroy(timedOut('no answer in time')), wire.totalMs);
    const giveUp = (): void => void sent.destroy(Object.assign(new Error('given up'), { code: 'ECONNABORTED' }));
    if (signal?.aborted) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });

    let hasResponse = false;
    const fail = (error: Error): void => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', giveUp);
      const isStale =
        !hasResponse &&
        sent.reusedSocket &&
        ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code));
      reject(isStale ? new StaleConnection('closed meanwhile', { cause: error }) : error);
    };
    sent.once('socket', (socket) => watchConnecting(sent, socket, wire));
    sent.on('error', fail);
    sent.once('response', (response) => {
      hasResponse = true;
      readResponse(response, maxBytes, (error) => sent.destroy(error)).then((result) => {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', giveUp);
        resolve(result);
      }, fail);
    });
    sent.end(body);
  });
}

export function watchConnecting(sent: ClientRequest, socket: Socket, { checkAddress, connectMs }: Transport): void {
  if (!socket.connecting) return;
  const slow = setTimeout(() => sent.destroy(timedOut('no connection in time')), connectMs);
  sent.once('close', () => clearTimeout(slow));
  socket.once((socket as Partial<TLSSocket>).encrypted ? 'secureConnect' : 'connect', () => clearTimeout(slow));
  socket.once('connect', () => {
    try {
      checkAddress(socket.remoteAddress ?? '');
    } catch (refusal) {
      sent.destroy(new Refused('refused', { cause: refusal }));
    }
  });
}

async function readResponse(
  response: IncomingMessage,
  maxBytes: number,
  end: (error: Error) => void,
): Promise<OutboundResponse> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw refuse(
      end,
      unavailable('answer_encoded', 'The response is compressed although no compression was requested.'),
    );
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Uses plain events: an iterator costs as much as the rest of a short response.
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes)
        reject(refuse(end, unavailable('answer_too_large', `The response is larger than ${maxBytes} bytes.`)));
      else chunks.push(chunk);
    });
    response.once('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
    );
    response.once('error', reject);
    response.once('close', () => {
      if (!response.complete)
        reject(Object.assign(new Error('closed in the middle of the answer'), { code: 'ECONNRESET' }));
    });
  });
}

function refuse(end: (error: Error) => void, refusal: Error): Refused {
  const refused = new Refused('refused', { cause: refusal });
  end(refused);
  return refused;
}
