import { conflict, internal } from '../kernel/index.ts';

const keyShape = /^[a-z0-9][a-z0-9.-]*(?:\/[a-z0-9][a-z0-9.-]*)+$/;
/** PATH_MAX is 4096, and an object name in a bucket has at most 1024 bytes; a key is a part of both. */
const maxKeyLength = 512;

/** Throws for invalid keys, which are bugs: the program creates keys, never users. */
export function checkKey(key: string): void {
  if (!keyShape.test(key) || key.length > maxKeyLength) throw internal(`${key} is no key of an object`);
}

export const objectExists = (key: string) => conflict('object_exists', `An object ${key} already exists.`);
