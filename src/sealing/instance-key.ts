import { createHmac, hkdfSync } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { internal } from '../kernel/index.ts';
import type { Random } from '../kernel/index.ts';

const keyBytes = 32;

/**
 * The instance key, which encrypts all stored secrets: a file in the data folder that only the server's user can read.
 * A copy of the database without it reveals no secret.
 */
export class InstanceKey {
  readonly #file: string;
  readonly #random: Random;
  readonly #deps: string;
  #key: Buffer | null = null;
  readonly #derived = new Map<string, Buffer>();

  /** @param module whose secrets they are: no other module can decrypt them */
  constructor(file: string, random: Random, deps: string) {
    this.#file = file;
    this.#random = random;
    this.#deps = deps;
  }

  /** A derived key for each use, so that a value of one use is never accepted for another. */
  for(use: string): Buffer {
    let key = this.#derived.get(use);
    if (key === undefined) {
      this.#key ??= this.#readOrMake();
      key = Buffer.from(hkdfSync('sha256', this.#key, '', `hearth ${this.#deps} ${use}`, keyBytes));
      this.#derived.set(use, key);
    }
    return key;
  }

  /** A keyed digest (HMAC) of a text, in hex. */
  digest(use: string, text: string): string {
    return createHmac('sha256', this.for(use)).update(text).digest('hex');
  }

  #readOrMake(): Buffer {
    try {
      return this.#read();
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
    return this.#read();
  }

  #read(): Buffer {
    const key = readFileSync(this.#file);
    if (key.length !== keyBytes)
      throw internal(`the key file of the secrets has ${key.length} bytes instead of ${keyBytes}`);
    return key;
  }
}
