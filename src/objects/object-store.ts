import type { Readable } from 'node:stream';

/** A stored object. */
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
  /** Size limit; larger content is refused while it arrives. */
  maxBytes: number;
  tooLarge: () => Error;
  /**
   * Size and digest, if the caller knows them: other content is refused with `object_damaged`, and nothing is stored.
   */
  expected?: Partial<StoredObject>;
  /** Whether nothing else uses the chunks of the content, so that their memory is freed once they are written. */
  frees?: boolean;
}

export interface OpenedObject {
  /** Size of the whole object, even if a range is read. */
  bytes: number;
  /** Closes the object when it ends or is destroyed. */
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
 * The interface covers the common features of a folder and an S3 bucket: keys, streams, ranges, and a digest computed
 * on write. Every method throws `object_store_unavailable` if a bucket does not respond.
 *
 * A key has parts of lower-case letters, digits, dots and hyphens, joined by slashes: `attachments/3f/3f2c81aa-…`. The
 * row is written after `put` has returned. An object without a row is a leftover of a crash; its owner removes it with
 * `list`, after a grace time longer than any upload.
 */
export interface ObjectStore {
  /** `s3`: objects are not on this machine, so incomplete content is in a local file until it is complete. */
  readonly place: 'folder' | 's3';
  /**
   * Stores an object: writes an incoming file while hashing it, syncs it, renames it, and syncs the folder. Throws
   * `object_exists` (an object is never replaced), `object_damaged`, `low_disk_space`, `disk_full`,
   * `storage_read_only`; the error of `tooLarge`, and errors of the content. Then nothing is stored.
   */
  put(key: string, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredObject>;
  /**
   * Stores a complete local file without a second copy if the store can: a folder renames it. Afterwards the file is
   * gone; after an error it is unchanged. A file that is already at its final path stays there. Throws the errors of
   * `put`, except that of `tooLarge`.
   */
  adopt(key: string, file: string, expected: StoredObject): Promise<void>;
  /**
   * Opens an object, or a range within its size; null if it is absent. A bucket's stream fails if bytes are missing,
   * and at the end of a whole object whose digest has changed.
   */
  get(key: string, range?: ByteRange): Promise<OpenedObject | null>;
  /** Size of an object, and its original digest, which a folder does not store; null if it is absent. */
  stat(key: string): Promise<{ bytes: number; sha256?: string } | null>;
  /** Removes an object if it exists. */
  remove(key: string): Promise<void>;
  /** Gives an object a second key, without a second copy if the store can. Throws `object_exists`. */
  link(from: string, to: string): Promise<boolean>;
  /** All objects below a prefix with a trailing slash, in no particular order. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** At start, before any upload: removes incomplete files of a killed process. Returns their number. */
  sweep(): Promise<number>;
}
