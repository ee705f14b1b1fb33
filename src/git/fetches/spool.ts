import { close, fstatSync, openSync, read, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { createNotifier } from '../../kernel/index.ts';

const readAt = promisify(read);

/** How often a growing file is looked at, in milliseconds: often while it grows, less while git thinks. */
const [shortestLookMs, longestLookMs] = [1, 16];

const pieceBytes = 256 * 1024;
/** Readers who began together stay near each other: so many pieces serve them all. */
const keptPieces = 8;
const keptBuffers = 16;
const free: Buffer[] = [];

/** A part of the file in memory, for all who want it at about the same time. */
interface Piece {
  start: number;
  buffer: Buffer;
  /** Bytes that are there; what is there stays as it is. */
  filled: number;
  reading: Promise<void> | null;
  users: number;
  isKept: boolean;
  /** Somebody may still look at the buffer: it is not used again. */
  isSpent: boolean;
}

/** Bytes from the position that was asked for, as many as there are in one piece. */
export interface Read {
  bytes: Buffer;
  /** @param isDone whether nobody looks at the bytes any more */
  release(isDone: boolean): void;
}

/**
 * A file that git writes and any number of readers follow. It has no name: whatever dies,
 * nothing is left behind, and a reader that has begun can finish.
 */
export class Spool {
  readonly #file: number;
  readonly #growth = createNotifier();
  #look: NodeJS.Timeout | undefined;
  #lookMs = shortestLookMs;
  #isClosed = false;
  #readers = 0;
  /** By their start, the one that was wanted first in front. */
  readonly #pieces = new Map<number, Piece>();
  size = 0;
  /** What readers know of: while git is busy they are told of whole pieces, not of every few bytes. */
  #toldSize = 0;
  /** Whether nothing more will come. */
  isEnded = false;

  /** @param place a path that nobody else uses */
  constructor(place: string) {
    this.#file = openSync(place, 'wx+', 0o600);
    unlinkSync(place);
    this.#lookAgain();
  }

  /** For the child's output. */
  get file(): number {
    return this.#file;
  }

  /** A reader comes; while there is one, pieces of the file are kept. */
  enter(): void {
    this.#readers += 1;
  }

  leave(): void {
    this.#readers -= 1;
    if (this.#readers === 0) for (const piece of this.#pieces.values()) this.#letGo(piece);
  }

  /** Reads from `position`, which lies below the size. One reading serves everybody who wants the same. */
  async read(position: number): Promise<Read> {
    const piece = this.#pieceAt(position - (position % pieceBytes));
    const { start, buffer } = piece;
    piece.users += 1;
    const release = (isDone: boolean) => {
      piece.users -= 1;
      piece.isSpent ||= !isDone;
      this.#recycle(piece);
    };
    try {
      while (start + piece.filled <= position) {
        piece.reading ??= this.#fill(piece).finally(() => (piece.reading = null));
        await piece.reading;
      }
    } catch (error) {
      release(false);
      throw error;
    }
    return { bytes: buffer.subarray(position - start, piece.filled), release };
  }

  /** Resolves when there is more than `position` worth reading, when the end is known, or when `signal` fires. */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.#toldSize <= position && !this.isEnded && !signal.aborted) {
      await this.#growth.wait('size', { signal });
    }
  }

  /** Says that the writer is gone. */
  end(): void {
    clearTimeout(this.#look);
    this.#measure();
    this.isEnded = true;
    this.#growth.notify('size');
  }

  /** For when nobody reads any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#look);
    // Freeing a large file takes the kernel a while.
    close(this.#file, () => {});
  }

  #pieceAt(start: number): Piece {
    const known = this.#pieces.get(start);
    if (known !== undefined) return known;
    const piece: Piece = {
      start,
      buffer: free.pop() ?? Buffer.allocUnsafeSlow(pieceBytes),
      filled: 0,
      reading: null,
      users: 0,
      isKept: true,
      isSpent: false,
    };
    this.#pieces.set(start, piece);
    const [oldest] = this.#pieces.values();
    if (this.#pieces.size > keptPieces) this.#letGo(oldest!);
    return piece;
  }

  async #fill(piece: Piece): Promise<void> {
    const { start, buffer, filled } = piece;
    const { bytesRead } = await readAt(
      this.#file,
      buffer,
      filled,
      Math.min(pieceBytes, this.size - start) - filled,
      start + filled,
    );
    if (bytesRead === 0) throw new Error('an answer became shorter');
    piece.filled += bytesRead;
  }

  #letGo(piece: Piece): void {
    piece.isKept = false;
    this.#pieces.delete(piece.start);
    this.#recycle(piece);
  }

  #recycle({ isKept, users, isSpent, buffer }: Piece): void {
    if (!isKept && users === 0 && !isSpent && free.length < keptBuffers) free.push(buffer);
  }

  #lookAgain(): void {
    this.#look = setTimeout(() => {
      this.#lookMs = this.#measure() ? shortestLookMs : Math.min(this.#lookMs * 2, longestLookMs);
      this.#lookAgain();
    }, this.#lookMs);
  }

  /** Whether it has grown. */
  #measure(): boolean {
    const { size } = fstatSync(this.#file);
    const hasGrown = size !== this.size;
    this.size = size;
    if (size - this.#toldSize >= pieceBytes || (!hasGrown && size > this.#toldSize)) {
      this.#toldSize = size;
      this.#growth.notify('size');
    }
    return hasGrown;
  }
}
