import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '../../kernel/index.ts';
import type { RunnerService } from '../runner-service.ts';
import type { GrpcServer } from './grpc-server.ts';

interface GrpcListener {
  /** Opens the port. Fails with the error of the system, which names address and port. */
  listen(): Promise<{ host: string; port: number }>;
  /** Takes over a connection to another port that speaks HTTP/2. */
  inject(socket: Socket): void;
  stop(options: { graceMs: number }): Promise<void>;
}

/**
 * The port for native gRPC. Loads grpc-js with the first connection, because it is large and many instances have no
 * runner that uses it.
 */
export function createGrpcListener({
  host,
  port,
  service,
  logger,
}: {
  host: string;
  port: number;
  service: RunnerService;
  logger: Logger;
}): GrpcListener {
  let server: Promise<GrpcServer> | null = null;
  let isStopping = false;
  // Data that arrives before grpc-js is loaded waits in the small buffer of the socket.
  const listener = createServer({ noDelay: true }, receive);

  function receive(socket: Socket): void {
    socket.on('error', (error) => logger.debug('rpc.socket_error', { error }));
    server ??= import('./grpc-server.ts').then(({ createGrpcServer }) => createGrpcServer({ service, logger }));
    void server.then((loaded) => (isStopping ? socket.destroy() : loaded.inject(socket)));
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        listener.once('error', reject);
        listener.listen(port, host, () => {
          listener.removeAllListeners('error');
          listener.on('error', (error) => logger.error('rpc.server_error', { error }));
          resolve({ host, port: (listener.address() as AddressInfo).port });
        });
      }),
    inject: receive,
    async stop({ graceMs }) {
      isStopping = true;
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      await (await server)?.stop({ graceMs });
      await closed;
    },
  };
}
