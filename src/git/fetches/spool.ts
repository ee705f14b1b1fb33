import { close, fstatSync, openSync, read, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { createNotifier } from '../../kernel/index.ts';

const readAt = promisify(read);

/** Poll interval of a growing file in milliseconds: short while it grows, longer while git computes. */
const [minPollMs, maxPollMs] = [1, 16];

const chunkBytes = 256 * 1024;
/** Cached chunks per spool: readers who start together stay close to each other, so this many serve all of them. */
const maxCachedChunks = 8;
const maxFreeBuffers = 16;
const free: Buffer[] = [];

/** A part of the file in memory, shared by all readers near that position. */
interface Chunk {
  start: number;
  buffer: Buffer;
  /** Number of valid bytes; these never change. */
  filled: number;
  reading: Promise<void> | null;
  users: number;
  isCached: boolean;
  /** A pending write may still use the buffer, so it is not reused. */
  isSpent: boolean;
}

/** Bytes from the requested position, at most one chunk. */
interface Read {
  bytes: Buffer;
  /**
   * @param isDone whether no write uses the bytes anymore
   */
  release(isDone: boolean): void;
}

/**
 * A file that git writes and any number of readers follow. It is unlinked once opened: a crash leaves nothing behind,
 * and readers that have started can finish.
 */
export class Spool {
  readonly #file: number;
  readonly #growth = createNotifier();
  #poll: NodeJS.Timeout | undefined;
  #pollMs = minPollMs;
  #isClosed = false;
  #readers = 0;
  /** Chunks by their start position, least recently used first. */
  readonly #chunks = new Map<number, Chunk>();
  size = 0;
  /** The size that readers know: while git is busy they are notified of whole chunks only. */
  #notifiedSize = 0;
  /** Whether nothing more will be written. */
  isEnded = false;

  /**
   * @param place an unused path
   */
  constructor(place: string) {
    this.#file = openSync(place, 'wx+', 0o600);
    unlinkSync(place);
    this.#schedulePoll();
  }

  /** File descriptor for the child's output. */
  get file(): number {
    return this.#file;
  }

  /** Adds a reader; while there are readers, chunks of the file stay in memory. */
  enter(): void {
    this.#readers += 1;
  }

  leave(): void {
    this.#readers -= 1;
    if (this.#readers === 0) for (const chunk of this.#chunks.values()) this.#dropChunk(chunk);
  }

  /** Reads from `position`, which must be below the size. Readers that want the same chunk share one read. */
  async read(position: number): Promise<Read> {
    const chunk = this.#chunkAt(position - (position % chunkBytes));
    const { start, buffer } = chunk;
    chunk.users += 1;
    const release = (isDone: boolean) => {
      chunk.users -= 1;
      chunk.isSpent ||= !isDone;
      this.#recycle(chunk);
    };
    try {
      while (start + chunk.filled <= position) {
        chunk.reading ??= this.#fill(chunk).finally(() => (chunk.reading = null));
        await chunk.reading;
      }
    } catch (error) {
      release(false);
      throw error;
    }
    return { bytes: buffer.subarray(position - start, chunk.filled), release };
  }

  /** Resolves when enough bytes follow `position`, the writer has ended, or `signal` fires. */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.#notifiedSize <= position && !this.isEnded && !signal.aborted) {
      await this.#growth.wait('size', { signal });
    }
  }

  /** Marks the writer as ended. */
  end(): void {
    clearTimeout(this.#poll);
    this.#refreshSize();
    this.isEnded = true;
    this.#growth.notify('size');
  }

  /** Closes the file when the last reader has left. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#poll);
    // Asynchronous: the kernel needs some time to free a large file.
    close(this.#file, () => {});
  }

  #chunkAt(start: number): Chunk {
    const known = this.#chunks.get(start);
    if (known !== undefined) return known;
    const chunk: Chunk = {
      start,
      buffer: free.pop() ?? Buffer.allocUnsafeSlow(chunkBytes),
      filled: 0,
      reading: null,
      users: 0,
      isCached: true,
      isSpent: false,
    };
    this.#chunks.set(start, chunk);
    const [oldest] = this.#chunks.values();
    if (this.#chunks.size > maxCachedChunks) this.#dropChunk(oldest!);
    return chunk;
  }

  async #fill(chunk: Chunk): Promise<void> {
    const { start, buffer, filled } = chunk;
    const { bytesRead } = await readAt(
      this.#file,
      buffer,
      filled,
      Math.min(chunkBytes, this.size - start) - filled,
      start + filled,
    );
    if (bytesRead === 0) throw new Error('an answer became shorter');
    chunk.filled += bytesRead;
  }

  #dropChunk(chunk: Chunk): void {
    chunk.isCached = false;
    this.#chunks.delete(chunk.start);
    this.#recycle(chunk);
  }

  #recycle({ isCached, users, isSpent, buffer }: Chunk): void {
    if (!isCached && users === 0 && !isSpent && free.length < maxFreeBuffers) free.push(buffer);
  }

  #schedulePoll(): void {
    this.#poll = setTimeout(() => {
      this.#pollMs = this.#refreshSize() ? minPollMs : Math.min(this.#pollMs * 2, maxPollMs);
      this.#schedulePoll();
    }, this.#pollMs);
  }

  /** Reads the file size; returns whether it has grown. */
  #refreshSize(): boolean {
    const { size } = fstatSync(this.#file);
    const hasGrown = size !== this.size;
    this.size = size;
    if (size - this.#notifiedSize >= chunkBytes || (!hasGrown && size > this.#notifiedSize)) {
      this.#notifiedSize = size;
      this.#growth.notify('size');
    }
    return hasGrown;
  }
}
