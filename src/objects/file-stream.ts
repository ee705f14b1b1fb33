import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { freeMemory } from '../kernel/index.ts';

const readAtOnce = 512 * 1024;
/** One buffer is read into while others are sent. */
const maxSpare = 3;

/**
 * A range of a file. Reads into buffers that the reader gives back: with a new one for each chunk, half of the
 * processor time of a download is that of the system, which clears their pages. Buffers are never shared with another
 * stream, so that no mistake mixes the contents of two files. Closes the file.
 */
export class FileStream extends Readable {
  readonly #file: FileHandle;
  readonly #spare: Buffer[] = [];
  #at: number;
  #left: number;

  constructor(file: FileHandle, { first, last }: { first: number; last: number }) {
    super({ highWaterMark: readAtOnce });
    this.#file = file;
    this.#at = first;
    this.#left = Math.max(0, last - first + 1);
  }

  override _read(): void {
    if (this.#left === 0) {
      this.push(null);
      return;
    }
    const length = Math.min(readAtOnce, this.#left);
    const spare = length === readAtOnce ? this.#spare.pop() : undefined;
    const into = spare ?? Buffer.allocUnsafeSlow(length);
    this.#file.read(into, 0, length, this.#at).then(
      ({ bytesRead }) => {
        // The file is shorter than it was.
        if (bytesRead === 0) this.#left = 0;
        this.#at += bytesRead;
        this.#left -= bytesRead;
        this.push(bytesRead === 0 ? null : bytesRead === into.length ? into : into.subarray(0, bytesRead));
      },
      (error: Error) => this.destroy(error),
    );
  }

  /** Takes back a whole chunk that nothing uses any more. */
  reuse(chunk: Buffer): void {
    const isWhole = chunk.length === readAtOnce && chunk.buffer.byteLength === readAtOnce;
    if (isWhole && !this.destroyed && this.#spare.length < maxSpare && !this.#spare.includes(chunk))
      this.#spare.push(chunk);
    else freeMemory(chunk);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    for (const spare of this.#spare.splice(0)) freeMemory(spare);
    // Waits for a read that is under way.
    this.#file.close().then(
      () => done(error),
      (failure: Error) => done(error ?? failure),
    );
  }
}
