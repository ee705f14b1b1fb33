import { sniffImageType } from '../images/index.ts';
import type { ImageType } from '../images/index.ts';

/** What the proxy passes on. */
export type ProxiedType = ImageType | 'image/avif' | 'image/svg+xml';

/** How far the head of an SVG is searched, in bytes. */
const svgHead = 4_096;
const svgStart =
  /^\ufeff?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->)[^]){0,3000}-->\s*)?(?:<!DOCTYPE\s+svg[^>[]{0,300}>\s*)?(?:<!--(?:(?!-->)[^]){0,3000}-->\s*)?<svg[\s>]/i;

/**
 * The type of an image by its bytes; null for what is none. The declared type only has to agree that it is an image:
 * an SVG must be declared as one, because its bytes are text.
 */
export function proxiedType(declared: string | undefined, bytes: Buffer): ProxiedType | null {
  const type = (declared ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'image/svg+xml') return isSvg(bytes) ? type : null;
  if (type !== '' && !type.startsWith('image/') && !/^(?:application|binary)\/octet-stream$/.test(type)) return null;
  return sniffImageType(bytes) ?? (isAvif(bytes) ? 'image/avif' : null);
}

/** Entities are refused: their expansion costs the reader's browser what their author likes. */
const isSvg = (bytes: Buffer): boolean =>
  svgStart.test(bytes.toString('utf8', 0, svgHead)) && !bytes.includes('<!ENTITY');

/** ISO/IEC 14496-12: the file type box comes first, with the brand. */
const isAvif = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 4, 8) === 'ftyp' && /^avi[fs]$/.test(bytes.toString('latin1', 8, 12));
