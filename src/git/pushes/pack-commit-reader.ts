import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';

/** Object types as a pack numbers them (gitformat-pack). */
const types = { commit: 1, tag: 4, offsetDelta: 6, idDelta: 7 } as const;

/** Size limit of a commit in bytes: real commits are smaller, and larger ones are not worth the memory. */
const maxCommitBytes = 1024 * 1024;
const maxTotalBytes = 32 * 1024 * 1024;
/** Limit of bytes inflated repeatedly: retrying an object that arrives in small chunks is expensive. */
const maxRepeatedBytes = 32 * 1024 * 1024;

interface ObjectHead {
  type: number;
  /** Size of the inflated content in bytes. */
  size: number;
  /** The base of a delta if it is a commit of this pack; `null` if it cannot be known. */
  base: Buffer | null;
  /** Where the deflated content begins. */
  end: number;
}

/**
 * Parses the commits at the beginning of a pack while it arrives. git and other tools write them before trees and
 * blobs; parsing ends with the last commit. Each commit is identified by the hash of its own bytes, so the result about
 * commits and their parents is true for any other content of the pack.
 */
export class PackCommitReader {
  readonly #idBytes: number;
  readonly #algorithm: string;
  #unread: Buffer = Buffer.alloc(0);
  /** Position of `#unread` in the pack. */
  #position = 0;
  #objectsLeft = 0;
  #repeatedBytes = 0;
  #totalBytes = 0;
  #done = false;
  readonly #contentAt = new Map<number, Buffer>();
  readonly #contentOf = new Map<string, Buffer>();

  /** @param idBytes size of the repository's object ids: 20 or 32 */
  constructor(idBytes: number) {
    this.#idBytes = idBytes;
    this.#algorithm = idBytes === 32 ? 'sha256' : 'sha1';
  }

  /** Whether parsing is over, so that further bytes add no commits. */
  get isDone(): boolean {
    return this.#done;
  }

  push(chunk: Buffer): void {
    if (this.#done) return;
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    while (!this.#done && (this.#position === 0 ? this.#readPackHead() : this.#readObject()));
    this.#repeatedBytes += this.#unread.length;
    if (this.#repeatedBytes > maxRepeatedBytes) this.#end();
  }

  /** The parents of a parsed commit; `undefined` for any other id. */
  parentsOf(id: string): string[] | undefined {
    const content = this.#contentOf.get(id);
    if (content === undefined) return undefined;
    const end = content.indexOf('\n\n');
    const header = content.toString('latin1', 0, end === -1 ? content.length : end);
    return [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1]!);
  }

  /** A parsed commit; `undefined` for any other id. */
  contentOf(id: string): Buffer | undefined {
    return this.#contentOf.get(id);
  }

  /** Returns whether it made progress; false if bytes are missing or no commits are left. */
  #readPackHead(): boolean {
    if (this.#unread.length < 12) return false;
    if (this.#unread.toString('latin1', 0, 4) !== 'PACK') return this.#end();
    this.#objectsLeft = this.#unread.readUInt32BE(8);
    this.#consume(12);
    return true;
  }

  #readObject(): boolean {
    if (this.#objectsLeft === 0) return this.#end();
    const head = this.#readObjectHead();
    if (head === 'cut') return false;
    if (head === null || head.size === 0 || head.size > maxCommitBytes) return this.#end();
    const inflated = inflate(this.#unread.subarray(head.end), head.size);
    if (inflated === 'cut') return false;
    if (inflated === null) return this.#end();

    if (head.type !== types.tag) {
      const content = head.base === null ? inflated.content : applyDelta(head.base, inflated.content);
      if (content === null) return this.#end();
      this.#keep(content);
    }
    this.#objectsLeft -= 1;
    this.#consume(head.end + inflated.consumedBytes);
    return true;
  }

  #readObjectHead(): ObjectHead | 'cut' | null {
    const bytes = this.#unread;
    let at = 0;
    let byte = bytes[at++];
    if (byte === undefined) return 'cut';
    const type = (byte >> 4) & 7;
    let size = byte & 15;
    for (let shift = 4; byte & 0x80; shift += 7) {
      byte = bytes[at++];
      if (byte === undefined) return 'cut';
      size += (byte & 0x7f) * 2 ** shift;
    }
    if (type === types.commit || type === types.tag) return { type, size, base: null, end: at };

    let base: Buffer | undefined;
    if (type === types.offsetDelta) {
      byte = bytes[at++];
      if (byte === undefined) return 'cut';
      let distance = byte & 0x7f;
      while (byte & 0x80) {
        byte = bytes[at++];
        if (byte === undefined) return 'cut';
        distance = (distance + 1) * 128 + (byte & 0x7f);
      }
      base = this.#contentAt.get(this.#position - distance);
    } else if (type === types.idDelta) {
      if (bytes.length < at + this.#idBytes) return 'cut';
      base = this.#contentOf.get(bytes.toString('hex', at, at + this.#idBytes));
      at += this.#idBytes;
    }
    // A tree, a blob, or a delta of one: no commits follow.
    return base === undefined ? null : { type, size, base, end: at };
  }

  #keep(content: Buffer): void {
    const id = createHash(this.#algorithm).update(`commit ${content.length}\0`).update(content).digest('hex');
    this.#contentAt.set(this.#position, content);
    this.#contentOf.set(id, content);
    this.#totalBytes += content.length;
    if (this.#totalBytes > maxTotalBytes) this.#end();
  }

  #consume(bytes: number): void {
    this.#unread = this.#unread.subarray(bytes);
    this.#position += bytes;
  }

  #end(): false {
    this.#done = true;
    this.#unread = Buffer.alloc(0);
    return false;
  }
}

/** Inflates the first stream in `bytes`; `cut` if it is incomplete, `null` if it does not match its header. */
function inflate(bytes: Buffer, size: number): { content: Buffer; consumedBytes: number } | 'cut' | null {
  try {
    const options = { info: true as const, maxOutputLength: size, chunkSize: Math.max(64, size) };
    // With `info` zlib returns the buffer and its engine, but the types declare only the buffer.
    const { buffer, engine } = inflateSync(bytes, options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return buffer.length === size ? { content: buffer, consumedBytes: engine.bytesWritten } : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' ? 'cut' : null;
  }
}

/** Applies a delta (gitformat-pack, "Deltified representation"); `null` if it does not fit its base. */
function applyDelta(base: Buffer, delta: Buffer): Buffer | null {
  let at = 0;
  const readSize = (): number => {
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = delta[at++] ?? 0;
      size += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return size;
    }
  };
  if (readSize() !== base.length) return null;
  const size = readSize();
  if (size > maxCommitBytes) return null;
  const parts: Buffer[] = [];
  while (at < delta.length) {
    const code = delta[at++]!;
    if (code === 0) return null;
    if ((code & 0x80) === 0) {
      parts.push(delta.subarray(at, at + code));
      at += code;
      continue;
    }
    let [from, count] = [0, 0];
    for (let bit = 0; bit < 4; bit += 1) if (code & (1 << bit)) from += (delta[at++] ?? 0) * 2 ** (8 * bit);
    for (let bit = 0; bit < 3; bit += 1) if (code & (16 << bit)) count += (delta[at++] ?? 0) * 2 ** (8 * bit);
    parts.push(base.subarray(from, from + (count || 0x10000)));
  }
  const content = Buffer.concat(parts);
  return content.length === size ? content : null;
}
