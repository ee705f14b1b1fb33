/** The four formats that SPEC §4.3 allows. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** Number of leading bytes that `sniffImageType` reads. */
export const sniffedBytes = 12;

const startsWith = (bytes: Buffer, magic: string, at = 0): boolean =>
  bytes.toString('latin1', at, at + magic.length) === magic;

/**
 * The format by its leading bytes alone (SPEC §4.3); `null` if it is none of the four or truncated. A RIFF file is WebP
 * only if its form type, at offset 8, says so: audio and video also use RIFF.
 */
export function sniffImageType(head: Buffer): ImageType | null {
  if (startsWith(head, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (startsWith(head, '\xff\xd8\xff')) return 'image/jpeg';
  if (startsWith(head, 'GIF87a') || startsWith(head, 'GIF89a')) return 'image/gif';
  if (startsWith(head, 'RIFF') && startsWith(head, 'WEBP', 8)) return 'image/webp';
  return null;
}

/**
 * The declared format of an upload, `null` for anything else. `image/jpg` is not registered, but some programs send it.
 */
export function parseImageType(declared: string): ImageType | null {
  const name = declared.split(';', 1)[0]!.trim().toLowerCase();
  switch (name) {
    case 'image/png':
    case 'image/jpeg':
    case 'image/gif':
    case 'image/webp':
      return name;
    case 'image/jpg':
      return 'image/jpeg';
    default:
      return null;
  }
}
