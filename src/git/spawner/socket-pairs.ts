import { existsSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { OnReadOpts, Server, Socket } from 'node:net';
import path from 'node:path';
import type { Logger } from '../../kernel/index.ts';

/** Both ends of one connection within this machine. */
export interface SocketPair {
  localEnd: Socket;
  /** Not read here: it becomes a child's input or output. Close it here once the child has it. */
  childEnd: Socket;
}

/** Creates connected sockets, one end of which is for a child. */
export interface SocketPairs {
  /**
   * @param onread option of `net.connect`: where the local end stores received bytes
   * @returns null if no pair can be created
   */
  make(onread?: OnReadOpts): Promise<SocketPair | null>;
  close(): void;
}

/** Length limit of a Unix socket's path that holds on every system, in bytes. */
const longestName = 100;

/** One process may have several listeners with different names, so that connections are not mixed up. */
let made = 0;

/**
 * @param folder absolute, accessible to this user only; holds the socket that connects both ends
 */
export async function createSocketPairs(folder: string, logger: Logger): Promise<SocketPairs> {
  const name = path.join(folder, `pipes-${process.pid}-${made++}`);
  const server = await listen(name, logger);
  let turn: Promise<unknown> = Promise.resolve();
  return {
    make(onread) {
      if (server === null) return Promise.resolve(null);
      // One at a time, so that connections are not mixed up.
      const pair = turn.then(() => pairThrough(server, name, onread));
      turn = pair;
      return pair;
    },
    close: () => void server?.close(),
  };
}

/** Removes the sockets of processes that no longer exist. */
export function removeStrayPairs(folder: string): void {
  // Without /proc the owner of a socket cannot be determined.
  if (!existsSync('/proc/self')) return;
  for (const name of readdirSync(folder)) {
    const [, pid] = /^pipes-(\d+)/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(path.join(folder, name), { force: true });
  }
}

async function listen(name: string, logger: Logger): Promise<Server | null> {
  if (Buffer.byteLength(name) > longestName) return null;
  rmSync(name, { force: true });
  // Paused: data that arrives at this end is for the child.
  const server = createServer({ pauseOnConnect: true });
  return new Promise((resolve) => {
    server.once('error', (error) => {
      logger.warn('git.pipes_unavailable', { error });
      resolve(null);
    });
    server.listen(name, () => resolve(server));
    server.unref();
  });
}

function pairThrough(server: Server, path: string, onread: OnReadOpts | undefined): Promise<SocketPair | null> {
  return new Promise((resolve) => {
    const finish = (childEnd: Socket | null) => {
      server.off('connection', finish);
      localEnd.off('error', onError);
      if (childEnd === null) return resolve(null);
      for (const end of [localEnd, childEnd]) end.on('error', () => {});
      resolve({ localEnd, childEnd });
    };
    const onError = () => finish(null);
    server.once('connection', finish);
    const localEnd = connect({ path, ...(onread === undefined ? {} : { onread }) });
    localEnd.on('error', onError);
  });
}
