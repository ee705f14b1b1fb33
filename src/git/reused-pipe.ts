import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import path from 'node:path';
import type { Writable } from 'node:stream';
import type { Logger } from '../kernel/index.ts';

/**
 * Pipes whose bytes pass through a handful of buffers that are used again and again.
 *
 * Node gives every 64 KB of an ordinary pipe a buffer of its own. Over a large clone
 * these make the collector walk the whole heap several times: a quarter of the server's
 * processor time, and pauses that every page feels.
 */
export interface ReusedPipes {
  /**
   * @param output takes bytes for good before it calls a write's callback, as sockets and
   *   HTTP answers do and transforms do not. It is left open
   * @returns null where such pipes cannot be had
   */
  open(output: Writable): Promise<ReusedPipe | null>;
  close(): void;
}

export interface ReusedPipe {
  /** The end for a child's output; to be closed here once the child has it. */
  readonly childEnd: Socket;
  /** Bytes handed to the output. */
  readonly bytes: number;
  /** Resolves when the child's end is closed and everything is handed over, or after `stop`. */
  readonly ended: Promise<void>;
  /** Closes our end at once. */
  stop(): void;
}

const bufferBytes = 256 * 1024;
const keptBuffers = 16;
/** A Unix socket's name has this much room on every system, in bytes. */
const longestName = 100;

/**
 * @param folder readable by this user alone; the socket that pairs both ends lies there
 */
export async function createReusedPipes(folder: string, logger: Logger): Promise<ReusedPipes> {
  const free: Buffer[] = [];
  const server = await listen(path.join(folder, `pipes-${process.pid}`), logger);
  let turn: Promise<unknown> = Promise.resolve();

  /** Makes both ends of one pipe. One at a time, so that no two are mixed up. */
  function pair(listener: Listener, flow: PipeFlow): Promise<Socket | null> {
    const made = turn.then(() => flow.connect(listener));
    turn = made;
    return made;
  }

  return {
    async open(output) {
      if (server === null) return null;
      const flow = new PipeFlow(output, free);
      const childEnd = await pair(server, flow);
      return childEnd === null ? null : flow.pipeTo(childEnd);
    },
    close() {
      server?.server.close();
    },
  };
}

interface Listener {
  server: Server;
  name: string;
}

async function listen(name: string, logger: Logger): Promise<Listener | null> {
  if (Buffer.byteLength(name) > longestName) return null;
  await rm(name, { force: true });
  // Paused: what arrives at this end is the child's business.
  const server = createServer({ pauseOnConnect: true });
  return new Promise((resolve) => {
    server.once('error', (error) => {
      logger.warn('git.pipes_unavailable', { error });
      resolve(null);
    });
    server.listen(name, () => resolve({ server, name }));
    server.unref();
  });
}

/** Our end: reads into a free buffer, writes it out, takes the buffer back. */
class PipeFlow {
  readonly #output: Writable;
  readonly #free: Buffer[];
  /** The one that the next bytes are read into. */
  #next: Buffer = Buffer.alloc(0);
  #socket: Socket | undefined;
  bytes = 0;

  constructor(output: Writable, free: Buffer[]) {
    this.#output = output;
    this.#free = free;
  }

  /** @returns the other end, or null when none could be made */
  connect({ server, name }: Listener): Promise<Socket | null> {
    return new Promise((resolve) => {
      const settle = (end: Socket | null) => {
        server.off('connection', settle);
        socket.off('error', onError);
        resolve(end);
      };
      const onError = () => settle(null);
      server.once('connection', settle);
      const socket = connect({
        path: name,
        onread: { buffer: () => (this.#next = this.#free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes)), callback: this.#pass },
      });
      socket.on('error', onError);
      this.#socket = socket;
    });
  }

  pipeTo(childEnd: Socket): ReusedPipe {
    const socket = this.#socket!;
    const flow = this;
    const resume = () => socket.resume();
    this.#output.on('drain', resume);
    socket.on('error', () => {});
    childEnd.on('error', () => {});
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    void ended.then(() => {
      this.#output.off('drain', resume);
      this.#giveBack(this.#next);
    });
    return {
      childEnd,
      get bytes() {
        return flow.bytes;
      },
      ended,
      stop: () => socket.destroy(),
    };
  }

  /** Answers false to read no more until the output has drained. */
  readonly #pass = (size: number): boolean => {
    const buffer = this.#next;
    this.bytes += size;
    return this.#output.write(buffer.subarray(0, size), (error) => {
      // After a failed write nobody knows who still looks at it.
      if (!error) this.#giveBack(buffer);
    });
  };

  #giveBack(buffer: Buffer): void {
    if (this.#free.length < keptBuffers) this.#free.push(buffer);
  }
}
