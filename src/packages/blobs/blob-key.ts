/** Keys of all objects that rows of this module name. */
export const blobPrefix = 'packages/';

/** What names the object of a blob. */
export interface BlobObject {
  ownerId: string;
  sha256: string;
  /** Null for an object of an earlier program, which has the digest for its name. */
  objectName: string | null;
}

/** Where the content of a blob is in the object store. */
export const blobKey = ({ ownerId, sha256, objectName }: BlobObject): string =>
  `${blobPrefix}${ownerId}/${objectName ?? sha256}`;

/** A name that no object had before, with the time from which it is there. */
export const newObjectName = (sha256: string, now: number, id: string): string => `${sha256}.${now}.${id}`;

/** What a key of `blobPrefix` says; since when its object may be there is null where the name does not say it. */
export function readBlobKey(key: string): BlobObject & { since: number | null } {
  const [ownerId = '', objectName = ''] = key.slice(blobPrefix.length).split('/');
  const [sha256 = '', since] = objectName.split('.');
  return since === undefined
    ? { ownerId, sha256, objectName: null, since: null }
    : { ownerId, sha256, objectName, since: Number(since) };
}

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
