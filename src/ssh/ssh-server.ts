import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { systemRandom, unavailable } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';
import type { Connections } from './clients/connections.ts';
import { createConnectionLimiter } from './connection-limiter.ts';
import { agreedHostKey } from './keys/host-key.ts';
import { defaultLimits } from './limits.ts';
import type { SshLimits } from './limits.ts';
import type { SshDeps } from './deps.ts';

interface SshServerNeeds extends Omit<SshDeps, 'random'> {
  random?: Random;
  limits?: Partial<SshLimits>;
}

interface SshServer {
  /**
   * Starts to accept connections, and generates missing host keys. Throws `host_key_unusable`,
   * `shared_key_unreadable`, `ssh_address_unavailable`.
   */
  listen(): Promise<{ host: string; port: number; fingerprint: string }>;
  /** Stops accepting connections, closes idle ones, and waits at most `graceMs` for running commands. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** git over SSH, and a few other commands (SPEC §4.5). */
export function createSshServer(needs: SshServerNeeds): SshServer {
  const deps: SshDeps = { ...needs, random: needs.random ?? systemRandom };
  const limits: SshLimits = { ...defaultLimits, ...needs.limits };
  const limiter = createConnectionLimiter({ limits, now: () => performance.now() });
  let loading: Promise<Connections> | null = null;
  let isStopping = false;
  // A socket is not read before it is admitted.
  const listener = createServer({ pauseOnConnect: true, noDelay: true });
  listener.maxConnections = limits.connections;

  return {
    async listen() {
      const { privateKey, fingerprint, second } = await agreedHostKey(
        deps.config.dataDir,
        deps.sharedKeys,
        deps.logger,
      );
      listener.on('connection', (socket) => {
        // Until the connection has listeners: an unhandled error would end the process.
        socket.on('error', () => {});
        loading ??= import('./clients/connections.ts').then(({ createConnections }) =>
          createConnections({ privateKeys: [privateKey, second.privateKey], limiter, limits, deps }),
        );
        void loading.then(({ accept }) => (isStopping ? socket.destroy() : accept(socket)));
      });
      const { host, port } = await bind();
      await deps.nodes.present(fingerprint);
      return { host, port, fingerprint };
    },

    async stop({ graceMs }) {
      isStopping = true;
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      const speaking = await loading;
      speaking?.closeIdle();
      const end = setTimeout(() => speaking?.destroyAll(), graceMs);
      await closed;
      clearTimeout(end);
      limiter.close();
    },
  };

  function bind(): Promise<{ host: string; port: number }> {
    const { host, port } = deps.config.ssh.listen;
    return new Promise((resolve, reject) => {
      listener.once('error', (cause) => {
        reject(
          unavailable('ssh_address_unavailable', `Cannot listen for SSH on ${host}:${port}: ${cause.message}.`, {
            cause,
          }),
        );
      });
      listener.listen(port, host, () => {
        listener.removeAllListeners('error');
        listener.on('error', (error) => deps.logger.error('ssh.server_error', { error }));
        resolve({ host, port: (listener.address() as AddressInfo).port });
      });
    });
  }
}
