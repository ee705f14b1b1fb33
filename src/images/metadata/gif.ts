/** Application extensions that decoding and colours depend on: the repetition count and the ICC profile. */
const needed = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']);
const [extension, image, trailer] = [0x21, 0x2c, 0x3b];
const [graphicControl, application] = [0xf9, 0xff];

/**
 * Keeps the images of a GIF (89a) with their timing, repetition and ICC profile. Removes comments, plain texts, XMP,
 * data of other applications and everything after the end. GIF has no orientation.
 * @returns the parts in order; null for a file whose blocks cannot be followed to its end
 */
export function stripGif(bytes: Buffer): Buffer[] | null {
  if (bytes.length < 13) return null;
  const start = 13 + tableBytes(bytes[10]!);
  const retained: Buffer[] = [bytes.subarray(0, start)];
  for (let at = start; ; ) {
    switch (bytes[at]) {
      case trailer:
        retained.push(bytes.subarray(at, at + 1));
        return retained;
      case image: {
        if (at + 11 > bytes.length) return null;
        // The descriptor has nine bytes with flags in the last one; the colours and the code size follow.
        const end = endOfBlocks(bytes, at + 10 + tableBytes(bytes[at + 9]!) + 1);
        if (end === null) return null;
        retained.push(bytes.subarray(at, end));
        at = end;
        break;
      }
      case extension: {
        const end = endOfBlocks(bytes, at + 2);
        if (end === null) return null;
        const label = bytes[at + 1];
        const name = bytes.toString('latin1', at + 3, at + 14);
        if (label === graphicControl || (label === application && needed.has(name)))
          retained.push(bytes.subarray(at, end));
        at = end;
        break;
      }
      default:
        return null;
    }
  }
}

/** Size of the colour table according to packed flags. */
const tableBytes = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1));

/** Sub-blocks, each after its length, up to an empty one. */
function endOfBlocks(bytes: Buffer, from: number): number | null {
  let at = from;
  for (let length = bytes[at]; length !== undefined; length = bytes[at]) {
    at += 1 + length;
    if (length === 0) return at;
  }
  return null;
}
