import { timingSafeEqual } from 'node:crypto';
import type { InstanceKey } from '../sealing/index.ts';

/** The repository whose document shows an image. */
export interface ImageScope {
  repositoryId: string;
  /** Images of documents that not everyone may read are cached apart, by repository. */
  isPublic: boolean;
}

export interface SignedImage extends ImageScope {
  url: string;
}

/** Longer ones are not shown; browsers and proxies accept eight thousand characters of an address. */
const maxUrlLength = 2_000;
/** Hex digits of the signature: 160 bits. */
const signatureLength = 40;
const use = 'address';

/**
 * `{signature}/{encoded}`: only the server makes such an address, so no client chooses what it fetches; it is
 * in the document, and says nothing that the document does not.
 * @returns null for a URL that is too long or no http(s) URL
 */
export function signImageUrl(key: InstanceKey, { repositoryId, isPublic }: ImageScope, url: string): string | null {
  if (url.length > maxUrlLength || !/^https?:\/\//i.test(url) || URL.parse(url) === null) return null;
  const encoded = Buffer.from(JSON.stringify([repositoryId, isPublic ? 1 : 0, url])).toString('base64url');
  return `${signatureOf(key, encoded)}/${encoded}`;
}

/** Null for what this server has not signed. */
export function readSignedImageUrl(key: InstanceKey, signature: string, encoded: string): SignedImage | null {
  const [expected, given] = [Buffer.from(signatureOf(key, encoded)), Buffer.from(signature)];
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return null;
  const [repositoryId, isPublic, url] = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as [
    string,
    number,
    string,
  ];
  return { repositoryId, isPublic: isPublic === 1, url };
}

const signatureOf = (key: InstanceKey, encoded: string): string => key.digest(use, encoded).slice(0, signatureLength);
