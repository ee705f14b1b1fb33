const begin = '-----BEGIN PGP SIGNATURE-----';
const end = '-----END PGP SIGNATURE-----';
/** Subpackets of a signature (RFC 9580 §5.2.3.7): key id and fingerprint of the issuer. */
const issuerKeyId = 16;
const issuerFingerprint = 33;

/**
 * Reads the key id that an OpenPGP signature names, 16 upper-case hex digits; null if it is unreadable. Takes linear
 * time, so that a page finds the necessary keys without the worker pool, which reads the rest of the signature only if
 * the key is registered here.
 */
export function readIssuer(text: string): string | null {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const first = lines.indexOf(begin);
  const last = lines.indexOf(end, first);
  // Armor headers end at the first empty line.
  const blank = lines.findIndex((line, index) => index > first && line.trim() === '');
  if (first === -1 || last === -1 || blank === -1 || blank > last) return null;
  const body = lines.slice(blank + 1, last).filter((line) => !line.startsWith('='));
  try {
    return issuerOf(contentOf(Buffer.from(body.join(''), 'base64')));
  } catch {
    // The length exceeds the data.
    return null;
  }
}

/** The content of a signature packet (RFC 9580 §4.2), with a header in the new or old format. */
function contentOf(bytes: Buffer): Buffer {
  const head = bytes.readUInt8(0);
  const isNew = (head & 0x40) !== 0;
  if ((head & 0x80) === 0 || (isNew ? head & 0x3f : (head >> 2) & 0xf) !== 2) throw new RangeError('no signature');
  if (isNew) {
    const { value, next } = readLength(bytes, 1, 223);
    return cut(bytes, next, value);
  }
  const width = 1 << (head & 3);
  return width === 8 ? bytes.subarray(1) : cut(bytes, 1 + width, bytes.readUIntBE(1, width));
}

function issuerOf(packet: Buffer): string | null {
  const version = packet.readUInt8(0);
  if (version !== 4 && version !== 6) return null;
  const width = version === 4 ? 2 : 4;
  const hashed = cut(packet, 4 + width, packet.readUIntBE(4, width));
  const rest = 4 + width + hashed.length;
  const other = cut(packet, rest + width, packet.readUIntBE(rest, width));
  return issuerIn(hashed) ?? issuerIn(other);
}

function issuerIn(area: Buffer): string | null {
  for (let at = 0; at < area.length; ) {
    const { value, next } = readLength(area, at, 254);
    const subpacket = cut(area, next, value);
    const type = subpacket.readUInt8(0) & 0x7f;
    if (type === issuerKeyId && subpacket.length === 9) return hex(subpacket.subarray(1));
    // The id is the end of a version 4 fingerprint, or the start of a version 6 one.
    if (type === issuerFingerprint && subpacket.length === 22) return hex(subpacket.subarray(-8));
    if (type === issuerFingerprint && subpacket.length === 34) return hex(subpacket.subarray(2, 10));
    at = next + value;
  }
  return null;
}

/**
 * Reads a length of one, two or five bytes.
 * @param lastOfTwo last value of the first byte of a two-byte length: in packet headers, values above 223 mean partial
 *   lengths
 */
function readLength(bytes: Buffer, at: number, lastOfTwo: number): { value: number; next: number } {
  const first = bytes.readUInt8(at);
  if (first < 192) return { value: first, next: at + 1 };
  if (first <= lastOfTwo) return { value: ((first - 192) << 8) + bytes.readUInt8(at + 1) + 192, next: at + 2 };
  if (first === 255) return { value: bytes.readUInt32BE(at + 1), next: at + 5 };
  throw new RangeError('partial lengths are for data');
}

function cut(bytes: Buffer, start: number, length: number): Buffer {
  if (start + length > bytes.length) throw new RangeError('cut short');
  return bytes.subarray(start, start + length);
}

const hex = (bytes: Buffer): string => bytes.toString('hex').toUpperCase();
