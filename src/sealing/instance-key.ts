import { createHmac, hkdfSync } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { internal } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';

export const keyBytes = 32;
/** The key in use and the one before it, while a rotation is under way. */
const mostKeys = 2;

/**
 * The instance key, which encrypts all stored secrets: a file in the data folder that only the server's user can read.
 * A copy of the database without it reveals no secret. While a rotation is under way the file has two keys: the first
 * encrypts, and both decrypt.
 */
export class InstanceKey {
  readonly #file: string;
  readonly #random: Random;
  readonly #deps: string;
  #keys: readonly Buffer[] | null = null;
  readonly #derived = new Map<string, readonly Buffer[]>();

  /** @param module whose secrets they are: no other module can decrypt them */
  constructor(file: string, random: Random, deps: string) {
    this.#file = file;
    this.#random = random;
    this.#deps = deps;
  }

  /** A derived key for each use, so that a value of one use is never accepted for another. */
  for(use: string): Buffer {
    return this.decrypting(use)[0]!;
  }

  /** The keys that may have encrypted what is stored, the one in use first. */
  decrypting(use: string): readonly Buffer[] {
    let keys = this.#derived.get(use);
    if (keys === undefined) {
      this.#keys ??= this.#readOrMake();
      keys = this.#keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', `hearth ${this.#deps} ${use}`, keyBytes)));
      this.#derived.set(use, keys);
    }
    return keys;
  }

  /** A keyed digest (HMAC) of a text, in hex. */
  digest(use: string, text: string): string {
    return createHmac('sha256', this.for(use)).update(text).digest('hex');
  }

  /** The digests by all keys of the file, that of the one in use first. */
  digests(use: string, text: string): string[] {
    return this.decrypting(use).map((key) => createHmac('sha256', key).update(text).digest('hex'));
  }

  #readOrMake(): readonly Buffer[] {
    try {
      return readKeys(this.#file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    try {
      const file = openSync(this.#file, 'wx', 0o600);
      writeSync(file, this.#random.bytes(keyBytes));
      fsyncSync(file);
      closeSync(file);
    } catch (error) {
      // Another process created the file first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return readKeys(this.#file);
  }
}

/** The keys in a file, the one in use first. */
export function readKeys(file: string): readonly Buffer[] {
  const bytes = readFileSync(file);
  const count = bytes.length / keyBytes;
  if (!Number.isInteger(count) || count < 1 || count > mostKeys)
    throw internal(`the key file of the secrets has ${bytes.length} bytes instead of ${keyBytes}`);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * keyBytes, (at + 1) * keyBytes));
}
