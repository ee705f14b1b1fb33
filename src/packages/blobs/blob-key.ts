/** Keys of all objects that rows of this module reference. */
export const blobPrefix = 'packages/';

/** Identifies the object of a blob. */
export interface BlobObject {
  ownerId: string;
  sha256: string;
  /** Null for an object of an earlier program, which is named by its digest. */
  objectName: string | null;
}

/** Key of a blob's content in the object store. */
export const blobKey = ({ ownerId, sha256, objectName }: BlobObject): string =>
  `${blobPrefix}${ownerId}/${objectName ?? sha256}`;

/** A new unique name for an object, which includes its creation time. */
export const newObjectName = (sha256: string, now: number, id: string): string => `${sha256}.${now}.${id}`;

/** The parts of a key of `blobPrefix`; the creation time is null if the name does not contain it. */
export function readBlobKey(key: string): BlobObject & { since: number | null } {
  const [ownerId = '', objectName = ''] = key.slice(blobPrefix.length).split('/');
  const [sha256 = '', since] = objectName.split('.');
  return since === undefined
    ? { ownerId, sha256, objectName: null, since: null }
    : { ownerId, sha256, objectName, since: Number(since) };
}

/** Content that is still being uploaded, or whose digest is unknown until its end. */
export const chunkPrefix = 'package-uploads/';
export const chunkKey = (objectId: string): string => `${chunkPrefix}${objectId}`;

/** A digest in the notation of clients. */
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
