import { close, fstatSync, openSync, read, unlinkSync } from 'node:fs';
import { promisify } from 'node:util';

const readAt = promisify(read);

/** How often a growing file is looked at, in milliseconds: often while it grows, less while git thinks. */
const [shortestLookMs, longestLookMs] = [1, 16];

/**
 * A file that git writes and any number of readers follow. It has no name: whatever dies,
 * nothing is left behind, and a reader that has begun can finish.
 */
export class Spool {
  readonly #file: number;
  readonly #waiting = new Set<() => void>();
  #look: NodeJS.Timeout | undefined;
  #lookMs = shortestLookMs;
  #isClosed = false;
  size = 0;
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

  /** Reads from `position` into `buffer`; answers how many bytes. */
  async read(buffer: Buffer, position: number): Promise<number> {
    const length = Math.min(buffer.length, this.size - position);
    return (await readAt(this.#file, buffer, 0, length, position)).bytesRead;
  }

  /** Resolves when there is more than `position`, when the end is known, or when `signal` fires. */
  async beyond(position: number, signal: AbortSignal): Promise<void> {
    while (this.size <= position && !this.isEnded && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  /** Says that the writer is gone. */
  end(): void {
    clearTimeout(this.#look);
    this.#measure();
    this.isEnded = true;
    for (const wake of this.#waiting) wake();
  }

  /** For when nobody reads any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#look);
    // Freeing a large file takes the kernel a while.
    close(this.#file, () => {});
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
    if (size === this.size) return false;
    this.size = size;
    for (const wake of this.#waiting) wake();
    return true;
  }
}
