import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/index.ts';
import type { ControlCommand } from '../control/index.ts';
import { createClientReader } from './request/client-address.ts';

/**
 * Reports how a request to the public URL arrives here: `hearth doctor --url` compares it with what it sent, and so
 * detects changes by a proxy.
 */
export interface Probe {
  /** Serves requests with the token of a running probe below any path; passes all others on. */
  before(next: RequestListener): RequestListener;
  /**
   * Runs during a check by the doctor: reads `{token}`, writes one line of JSON per event. An input line `seen` lets a
   * stream continue.
   */
  command: ControlCommand;
}

interface Running {
  notify(event: object): void;
  /** Resolves when the doctor has seen the beginning of a stream, or no longer waits. */
  seen: Promise<void>;
}

const streamWaitsMs = 5_000;
const tokenForm = /^[0-9a-f]{32}$/;

export function createProbe({ proxy }: Pick<Config, 'proxy'>): Probe {
  const readClient = createClientReader(proxy.trusted);
  const running = new Map<string, Running>();

  async function serve(request: IncomingMessage, response: ServerResponse, { notify, seen }: Running): Promise<void> {
    const peer = request.socket.remoteAddress ?? '';
    const { address, forwardedProto, forwardedHost } = readClient(peer, request.headers);
    notify({
      kind: 'head',
      method: request.method,
      url: request.url,
      host: request.headers.host ?? null,
      peer,
      address,
      forwardedProto,
      forwardedHost,
      isForwarded:
        request.headers['x-forwarded-for'] !== undefined || request.headers['x-forwarded-proto'] !== undefined,
    });
    if (request.url?.endsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write('data: first\n\n');
      const wasSeen = await Promise.race([seen.then(() => true), sleep(streamWaitsMs, false)]);
      response.end('data: last\n\n');
      notify({ kind: 'stream', wasSeen });
      return;
    }
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request) {
      if (bytes === 0) notify({ kind: 'body begins' });
      bytes += (chunk as Buffer).length;
      hash.update(chunk as Buffer);
    }
    notify({ kind: 'body', bytes, sha256: hash.digest('hex') });
    response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' }).end('probe\n');
  }

  return {
    before: (next) => (request, response) => {
      const token =
        running.size === 0 ? undefined : /\/hearth-probe\/([0-9a-f]{32})(?:\/|$)/.exec(request.url ?? '')?.[1];
      const found = token === undefined ? undefined : running.get(token);
      if (found === undefined) next(request, response);
      else serve(request, response, found).catch(() => request.destroy());
    },

    async command(parameters, { input, output, signal, closing }) {
      const token = String(parameters['token']);
      if (!tokenForm.test(token)) return 2;
      const { promise, resolve } = Promise.withResolvers<void>();
      running.set(token, {
        notify: (event) => void (output.destroyed || output.write(`${JSON.stringify(event)}\n`)),
        seen: promise,
      });
      try {
        output.write(`${JSON.stringify({ kind: 'ready' })}\n`);
        const end = AbortSignal.any([signal, closing]);
        end.addEventListener('abort', () => input.destroy(), { once: true });
        // Any line means that the beginning was seen; the end of the input ends the probe.
        for await (const _word of input) resolve();
      } catch {
        // The doctor has disconnected.
      } finally {
        resolve();
        running.delete(token);
      }
      return 0;
    },
  };
}
