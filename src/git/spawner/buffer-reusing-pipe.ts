import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { SocketPairs } from './socket-pairs.ts';

/**
 * Pipes whose bytes pass through a handful of reused buffers.
 * Node allocates a buffer for every 64 KB of an ordinary pipe. Over a large clone these make the garbage collector
 * walk the whole heap several times: a quarter of the server's CPU time, and pauses on every page.
 */
export interface ReusedPipes {
  /**
   * @param output no longer uses a write's bytes when it calls the callback, as sockets and HTTP responses do and
   *   transforms do not. It is left open
   * @returns null if such pipes are not available
   */
  open(output: Writable): Promise<ReusedPipe | null>;
}

interface ReusedPipe {
  /** The end for a child's output. */
  readonly childEnd: Socket;
  /** Bytes passed to the output. */
  readonly bytes: number;
  /** Resolves when the child's end is closed and everything is written, or after `stop`. */
  readonly ended: Promise<void>;
  /** Closes the server's end at once. */
  stop(): void;
}

const bufferBytes = 256 * 1024;
const maxFreeBuffers = 16;

export function createReusedPipes(pairs: SocketPairs): ReusedPipes {
  const free: Buffer[] = [];
  return {
    async open(output) {
      const flow = new PipeFlow(output, free);
      const pair = await pairs.make({ buffer: flow.takeBuffer, callback: flow.pass });
      return pair === null ? null : flow.pipeTo(pair.localEnd, pair.childEnd);
    },
  };
}

/** The server's end: reads into a free buffer, writes it to the output, reclaims the buffer. */
class PipeFlow {
  readonly #output: Writable;
  readonly #free: Buffer[];
  /** The buffer for the next read. */
  #next: Buffer = Buffer.alloc(0);
  bytes = 0;

  constructor(output: Writable, free: Buffer[]) {
    this.#output = output;
    this.#free = free;
  }

  readonly takeBuffer = (): Buffer => (this.#next = this.#free.pop() ?? Buffer.allocUnsafeSlow(bufferBytes));

  pipeTo(socket: Socket, childEnd: Socket): ReusedPipe {
    const flow = this;
    const resume = () => socket.resume();
    this.#output.on('drain', resume);
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

  /** Returns false to pause reading until the output has drained. */
  readonly pass = (size: number): boolean => {
    const buffer = this.#next;
    this.bytes += size;
    return this.#output.write(buffer.subarray(0, size), (error) => {
      // After a failed write the buffer may still be in use.
      if (!error) this.#giveBack(buffer);
    });
  };

  #giveBack(buffer: Buffer): void {
    if (this.#free.length < maxFreeBuffers) this.#free.push(buffer);
  }
}
