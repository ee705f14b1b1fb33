import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConnectionLimiter } from './connection-limiter.ts';
import { createTrustedPeers } from './request/client-address.ts';
import { splitOffHttp2 } from './route-runner-requests.ts';
import type { RunnerListener } from './route-runner-requests.ts';

/**
 * Node's own defaults abort an upload after 300 s even while it makes progress, and let a silent client stay for ever
 * (security I04). Whole requests therefore have no deadline here; headers, forms and silence do.
 */
const limits = {
  headersTimeout: 15_000,
  requestTimeout: 0,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
} as const;
const maxRequestsPerSocket = 1_000;
/**
 * Time without a byte in either direction after which a connection is closed; routes that stream packs set their own.
 */
const silenceMs = 60_000;

export interface WebServer {
  /** Opens the port. @returns the address, with the actual port if 0 was requested */
  listen(): Promise<{ host: string; port: number }>;
  /** Stops accepting requests, lets running ones end within `graceMs`, then aborts the rest. */
  stop(options: { graceMs: number }): Promise<void>;
}

interface HttpServerOptions {
  host: string;
  port: number;
  handle: RequestListener;
  /** Handler of HTTP/2 connections. */
  runners?: RunnerListener | undefined;
  /** Proxies that forward requests of many clients, as configured in `proxy.trusted`. */
  trusted?: readonly string[];
  /** Time limits of clients in milliseconds; tests use shorter ones. */
  patience?: { headersMs: number; checkedEveryMs: number; silenceMs: number };
}

/**
 * Closes idle connections at once and others as their responses end; `close` alone would wait for keep-alive
 * connections.
 */
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
      // The connection must not be reused for another request while the server stops.
      if (isDraining) response.setHeader('Connection', 'close');
      limiter.requested(request, response);
      handle(request, response);
    },
  );
  server.maxRequestsPerSocket = maxRequestsPerSocket;
  server.timeout = patience?.silenceMs ?? silenceMs;
  const endUnread = splitOffHttp2(server, runners, limiter.upgradedToHttp2);
  // Before every other listener of `connection`. `server.maxConnections` stays unset: it would refuse new connections.
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
