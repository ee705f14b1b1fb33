import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Random } from '../kernel/index.ts';
import { decrypt, encrypt } from './encrypt.ts';
import { keyBytes, readKeys } from './instance-key.ts';
import type { InstanceKey } from './instance-key.ts';

/**
 * Begins a rotation: the file gets a new key before the one in use, in one rename, so that a kill at any moment leaves
 * a file whose keys open everything. A rotation that was cut short goes on with its key. No server may be running: it
 * would encrypt with the former key. @throws with `ENOENT` when there is no key yet
 */
export function beginRotation(file: string, random: Random): { resumed: boolean } {
  const [current, former] = readKeys(file);
  if (former !== undefined) return { resumed: true };
  replaceKeys(file, [random.bytes(keyBytes), current!]);
  return { resumed: false };
}

/** Forgets the former key, once nothing is encrypted with it. */
export const endRotation = (file: string): void => replaceKeys(file, readKeys(file).slice(0, 1));

/**
 * What a stored ciphertext becomes by a rotation: encrypted with the key in use; null when it is so already, and for
 * what no key decrypts, which stays as it is.
 */
export function reencrypt(
  key: InstanceKey,
  random: Random,
  { use, place, text }: { use: string; place: string; text: string },
): string | null {
  const [current, ...former] = key.decrypting(use);
  if (decrypt([current!], place, text) !== null) return null;
  const secret = decrypt(former, place, text);
  return secret === null ? null : encrypt(current!, random, place, secret);
}

/** By a rename of a synced file: there is never a file with half of a key. */
function replaceKeys(file: string, keys: readonly Buffer[]): void {
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const opened = openSync(temporary, 'wx', 0o600);
  writeSync(opened, Buffer.concat(keys));
  fsyncSync(opened);
  closeSync(opened);
  renameSync(temporary, file);
  const folder = openSync(path.dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
