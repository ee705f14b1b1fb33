import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { OnReadOpts, Server, Socket } from 'node:net';
import type { Logger } from '../kernel/index.ts';

/** Both ends of one connection within this machine. */
export interface SocketPair {
  ours: Socket;
  /** Nobody reads this one here: it becomes a child's input or output. To be closed here once the child has it. */
  theirs: Socket;
}

/** Makes connections that a child can be given one end of. */
export interface SocketPairs {
  /**
   * @param onread of `net.connect`: where our end puts what it reads
   * @returns null where no pair can be had
   */
  make(onread?: OnReadOpts): Promise<SocketPair | null>;
  close(): void;
}

/** A Unix socket's name has this much room on every system, in bytes. */
const longestName = 100;

/** @param name absolute path of the socket that pairs both ends, in a folder readable by this user alone */
export async function createSocketPairs(name: string, logger: Logger): Promise<SocketPairs> {
  const server = await listen(name, logger);
  let turn: Promise<unknown> = Promise.resolve();
  return {
    make(onread) {
      if (server === null) return Promise.resolve(null);
      // One at a time, so that no two are mixed up.
      const made = turn.then(() => pairThrough(server, name, onread));
      turn = made;
      return made;
    },
    close: () => void server?.close(),
  };
}

async function listen(name: string, logger: Logger): Promise<Server | null> {
  if (Buffer.byteLength(name) > longestName) return null;
  await rm(name, { force: true });
  // Paused: what arrives at this end is the child's business.
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
    const settle = (theirs: Socket | null) => {
      server.off('connection', settle);
      ours.off('error', onError);
      if (theirs === null) return resolve(null);
      for (const end of [ours, theirs]) end.on('error', () => {});
      resolve({ ours, theirs });
    };
    const onError = () => settle(null);
    server.once('connection', settle);
    const ours = connect({ path, ...(onread === undefined ? {} : { onread }) });
    ours.on('error', onError);
  });
}
