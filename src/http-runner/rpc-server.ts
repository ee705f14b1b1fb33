import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Ci } from '../ci/index.ts';
import type { Config } from '../config/index.ts';
import { createClientReader } from '../http/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import type { ConnectHandler } from './connect/connect-handler.ts';
import { createGrpcListener } from './grpc/grpc-listener.ts';
import { RunnerService } from './runner-service.ts';
import type { RunnerCi } from './runner-service.ts';

interface RpcOptions {
  config: Pick<Config, 'grpc' | 'proxy'>;
  ci: RunnerCi & Pick<Ci, 'stopWaiting'>;
  clock: Clock;
  logger: Logger;
}

/** The runner protocol in its two framings (SPEC §4.1). */
interface RpcServer {
  /** Opens the port for native gRPC. */
  listen(): Promise<{ host: string; port: number }>;
  /** Handles a request to the web port if its path belongs to the protocol; returns whether it did. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** Takes over a connection to the web port that speaks HTTP/2. */
  handleHttp2(socket: Socket): void;
  /** Rejects new calls and lets running ones end within `graceMs`. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** Whether a path of the web port belongs to the protocol, known or not. */
const isOwn = (path: string): boolean =>
  /^(?:\/api\/actions)?\/(?:runner|ping)\.v1\./.test(path) || path.startsWith('/api/actions/');

/**
 * Listens only after `listen`; the web listener hands over requests and connections of the protocol (`app/` connects
 * the two).
 */
export function createRpcServer({ config, ci, clock, logger }: RpcOptions): RpcServer {
  const service = new RunnerService(ci, clock.now());
  const readClient = createClientReader(config.proxy.trusted);
  const grpc = createGrpcListener({ ...config.grpc.listen, service, logger });
  // Loaded with the first call, like the other framing: together they are a sixth of all code that a start would load.
  let connect: Promise<ConnectHandler> | null = null;
  return {
    listen: () => grpc.listen(),
    handleRequest(request, response) {
      if (!isOwn(request.url ?? '')) return false;
      connect ??= import('./connect/connect-handler.ts').then(({ createConnectHandler }) =>
        createConnectHandler({ service, logger, readClient }),
      );
      void connect.then(({ handle }) => handle(request, response));
      return true;
    },
    handleHttp2: (socket) => grpc.inject(socket),
    async stop({ graceMs }) {
      ci.stopWaiting();
      await grpc.stop({ graceMs });
    },
  };
}
