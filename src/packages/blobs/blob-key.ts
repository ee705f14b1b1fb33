/** Keys of all objects that rows of this module name. */
export const blobPrefix = 'packages/';
/** Where the content of a digest is in the object store, for one owner. */
export const blobKey = (ownerId: string, sha256: string): string => `${blobPrefix}${ownerId}/${sha256}`;

/** Content that is still coming, or whose digest is not known before its end. */
export const chunkPrefix = 'package-uploads/';
export const chunkKey = (objectId: string): string => `${chunkPrefix}${objectId}`;

/** A digest as clients name it. */
export interface Digest {
  algorithm: 'sha256' | 'sha512';
  hex: string;
}

/** `sha256:…` or `sha512:…` in lower-case hex; null for anything else. */
export function readDigest(text: string): Digest | null {
  const [, algorithm, hex = ''] = /^(sha256|sha512):([0-9a-f]+)$/.exec(text) ?? [];
  if (algorithm === 'sha256' && hex.length === 64) return { algorithm, hex };
  if (algorithm === 'sha512' && hex.length === 128) return { algorithm, hex };
  return null;
}
