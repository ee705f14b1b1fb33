import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConnectionLimiter } from './connection-limiter.ts';
import { createTrustedPeers } from './request/client-address.ts';
import { splitOffHttp2 } from './runner-listener.ts';
import type { RunnerListener } from './runner-listener.ts';

/**
 * Node's own defaults cut an upload after 300 s even while it flows, and let a
 * silent client stay for ever (security I04). Whole requests therefore
 * have no deadline here; headers, forms and silence have.
 */
const limits = {
  headersTimeout: 15_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
} as const;
const maxRequestsPerSocket = 1_000;
/** No byte in either direction for this long ends a connection; routes that stream packs set their own. */
const silenceMs = 60_000;

export interface WebServer {
  /** Opens the port. @returns where it listens, with the port that was picked when 0 was asked for */
  listen(): Promise<{ host: string; port: number }>;
  /** Accepts no new requests, lets running ones end within `graceMs`, then cuts what is left. */
  stop(options: { graceMs: number }): Promise<void>;
}

interface HttpServerOptions {
  host: string;
  port: number;
  handle: RequestListener;
  /** Who takes connections that speak HTTP/2. */
  runners?: RunnerListener | undefined;
  /** Proxies that speak for many clients, as `proxy.trusted` names them. */
  trusted?: readonly string[];
  /** How long clients may take, in milliseconds; for tests, which have less patience. */
  patience?: { headersMs: number; checkedEveryMs: number; silenceMs: number };
}

/** Closes what idles at once and again as responses end; `close` alone would wait for keep-alive connections. */
async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed.finally(() => clearTimeout(cut));
}

export function createHttpServer({
  host,
  port,
  handle,
  runners,
  trusted = [],
  patience,
}: HttpServerOptions): WebServer {
  let isDraining = false;
  const { headersMs = limits.headersTimeout, checkedEveryMs = limits.connectionsCheckingInterval } = patience ?? {};
  const limiter = createConnectionLimiter({ isTrusted: createTrustedPeers(trusted), now: () => performance.now() });
  const sampling = setInterval(() => limiter.sampleActivity(), 1_000).unref();
  const server = createServer(
    { ...limits, headersTimeout: headersMs, connectionsCheckingInterval: checkedEveryMs },
    (request, response) => {
      // The connection must not be offered for another request while the server stops.
      if (isDraining) response.setHeader('Connection', 'close');
      limiter.requested(request, response);
      handle(request, response);
    },
  );
  server.maxRequestsPerSocket = maxRequestsPerSocket;
  server.timeout = patience?.silenceMs ?? silenceMs;
  const endUnread = splitOffHttp2(server, runners, limiter.upgradedToHttp2);
  // Before every other listener of `connection`. `server.maxConnections` stays unset: it would refuse the newcomer.
  server.prependListener('connection', limiter.arrived);

  return {
    async listen() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, resolve);
      });
      const { address, port: listeningPort } = server.address() as AddressInfo;
      return { host: address, port: listeningPort };
    },
    async stop({ graceMs }) {
      if (!server.listening) return;
      isDraining = true;
      endUnread();
      clearInterval(sampling);
      await drain(server, graceMs);
    },
  };
}
