/** The bytes are malformed. */
export class UnreadableBlob extends Error {
  constructor(options?: ErrorOptions) {
    super('unreadable key blob', options);
    this.name = 'UnreadableBlob';
  }
}

/** Reads the fields of a key blob in order (RFC 4251 §5). Throws `UnreadableBlob`. */
export class BlobReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A four-byte length, then that many bytes. */
  readString(maxBytes = Infinity): Buffer {
    if (this.#bytes.length - this.#position < 4) throw new UnreadableBlob();
    const length = this.#bytes.readUInt32BE(this.#position);
    const start = this.#position + 4;
    if (length > maxBytes || length > this.#bytes.length - start) throw new UnreadableBlob();
    this.#position = start + length;
    return this.#bytes.subarray(start, this.#position);
  }

  /** A positive number in canonical form: no sign bit, no superfluous leading zero. */
  readPositiveInteger(): { bits: number; isOdd: boolean } {
    const bytes = this.readString();
    const [first, second] = bytes;
    if (first === undefined || first >= 0x80) throw new UnreadableBlob();
    if (first === 0 && (second === undefined || second < 0x80)) throw new UnreadableBlob();
    const leading = first === 0 ? second! : first;
    const wholeBytes = bytes.length - (first === 0 ? 2 : 1);
    return { bits: 8 * wholeBytes + (32 - Math.clz32(leading)), isOdd: bytes.at(-1)! % 2 === 1 };
  }

  /** Rejects trailing bytes: the same key with added bytes would have another fingerprint. */
  end(): void {
    if (this.#position !== this.#bytes.length) throw new UnreadableBlob();
  }
}
