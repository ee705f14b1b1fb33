import { conflict, internal } from '../kernel/index.ts';

const keyShape = /^[a-z0-9][a-z0-9.-]*(?:\/[a-z0-9][a-z0-9.-]*)+$/;
/** PATH_MAX is 4096, the name of an object in a bucket has at most 1024 bytes; a key is a part of both. */
const maxKeyLength = 512;

/** Refuses what no caller may send: keys are made by the program, never by a person. */
export function checkKey(key: string): void {
  if (!keyShape.test(key) || key.length > maxKeyLength) throw internal(`${key} is no key of an object`);
}

export const objectExists = (key: string) => conflict('object_exists', `There is an object ${key} already.`);
