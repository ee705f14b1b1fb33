/**
 * Detects files that are an image and something else at the same time (polyglots). Hearth serves every image with a
 * fixed type, `nosniff` and a sandbox, so they are harmless here; a copy served elsewhere might not be.
 */

/** Range in which readers of PDF and HTML search for the start marker, in bytes. */
const searchedBytes = 1024;

const markup = /<(?:!doctype\s+html|html|head|body|script|iframe|svg)[\s>/]|<\?php/i;
/** `GIF89a=1;` and `GIF89a/*` are valid JavaScript; so is a JPEG whose first segment length reads as `/*`. */
const script = /^GIF8[79]a(?:=|\/\*)|^\xff\xd8\xff.\/\*/s;

/** The second format, for the log and the error; `null` for a plain image. */
export function detectPolyglot(bytes: Buffer): 'zip' | 'pdf' | 'html' | 'script' | null {
  const start = bytes.toString('latin1', 0, searchedBytes);
  if (start.includes('%PDF-')) return 'pdf';
  if (markup.test(start)) return 'html';
  if (script.test(start)) return 'script';
  return endsAsZip(bytes) ? 'zip' : null;
}

const zipEnd = Buffer.from('PK\x05\x06', 'latin1');
const zipEndBytes = 22;

/** A zip archive (jar, apk, office file) is recognised by its end record, whatever precedes it. */
function endsAsZip(bytes: Buffer): boolean {
  const first = Math.max(0, bytes.length - zipEndBytes - 0xffff);
  for (let at = bytes.lastIndexOf(zipEnd); at >= first; at = at === 0 ? -1 : bytes.lastIndexOf(zipEnd, at - 1)) {
    // The comment length has to reach exactly to the end of the file: the four magic bytes alone occur by chance.
    if (at + zipEndBytes <= bytes.length && bytes.readUInt16LE(at + 20) === bytes.length - at - zipEndBytes)
      return true;
  }
  return false;
}
