import type { Readable } from 'node:stream';

/** An object as it is stored. */
export interface StoredObject {
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** First and last byte, both included, as in a `Range` header. */
export interface ByteRange {
  first: number;
  last: number;
}

export interface PutOptions {
  /** More is refused while it comes. */
  maxBytes: number;
  tooLarge: () => Error;
  /** Where the caller knows them: other content is refused with `object_damaged`, and nothing is stored. */
  expected?: Partial<StoredObject>;
}

export interface OpenedObject {
  /** Of the whole object, also where a range is read. */
  bytes: number;
  /** Closes the object at its end, and when it is destroyed. */
  stream: Readable;
}

export interface ListedObject {
  key: string;
  bytes: number;
  /** When it was stored, in epoch milliseconds. */
  storedAt: number;
}

/**
 * Files that are written once and named by a row: attachments, artifacts, complete logs, LFS objects, release files.
 * The interface is what a folder and an S3 bucket both give: keys, streams, ranges, and a digest that is computed on
 * the way in. A bucket that does not answer is refused with `object_store_unavailable`, by every method.
 *
 * A key has parts of lower-case letters, digits, dots and hyphens, joined by slashes: `attachments/3f/3f2c81aa-…`.
 * The row is written after `put` has returned. What no row names is a leftover of a crash; its owner removes it by
 * `list`, after a grace time that is longer than any upload.
 */
export interface ObjectStore {
  /**
   * `s3`: objects are not on this machine, so what is still being written lies in a local file until it is complete.
   */
  readonly place: 'folder' | 's3';
  /**
   * Stores an object: into an incoming file, hashed while it comes, synced, renamed, the folder synced.
   * Refuses `object_exists` (an object is never replaced), `object_damaged`, `low_disk_space`,
   * `disk_full`, `storage_read_only`; and what
   * `tooLarge` and the content throw. Then nothing is stored.
   */
  put(key: string, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /**
   * Stores a complete file of this machine without a second copy where the store can: a folder takes it by renaming. It
   * is gone afterwards; after a refusal it is where it was. A file that is at its place already stays there.
   * Refuses as `put` does, apart from `tooLarge`.
   */
  adopt(key: string, file: string, expected: StoredObject): Promise<void>;
  /**
   * Opens an object, or a range of it, which must be within its size; null when it is absent. A bucket's stream fails
   * when bytes are missing, and at the end of a whole object whose digest is not the one it was stored with.
   */
  get(key: string, range?: ByteRange): Promise<OpenedObject | null>;
  /** Size of an object, and the digest it was stored with, which a folder does not keep; null when it is absent. */
  stat(key: string): Promise<{ bytes: number; sha256?: string } | null>;
  /** Removes an object, if it is there. */
  remove(key: string): Promise<void>;
  /** Gives an object a second key without a second copy, where the store can. Refuses `object_exists`. */
  link(from: string, to: string): Promise<boolean>;
  /** All objects below a prefix that ends with a slash, in no particular order. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** At start, before any upload: removes what a killed process left half written. Returns their number. */
  sweep(): Promise<number>;
}
