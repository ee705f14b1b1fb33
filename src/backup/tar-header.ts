/**
 * Headers of the tar format (POSIX.1-2001, pax): one block of 512 bytes before the content of each file. Pure; names
 * and sizes that do not fit go into a pax header before it.
 */
export const blockBytes = 512;

interface TarEntry {
  /** With forward slashes. */
  name: string;
  bytes: number;
  /** Epoch milliseconds; stored as whole seconds. */
  modifiedAt: number;
}

/** A parsed header; `pax` and `gnuName` describe the entry after them. */
export interface TarHeader extends TarEntry {
  kind: 'file' | 'folder' | 'pax' | 'globalPax' | 'gnuName' | 'other';
}

const mostOctal = 0o77777777777;

/** The header blocks of a file. */
export function tarHeader(entry: TarEntry): Buffer {
  const nameFields = split(entry.name);
  const records: string[] = [];
  if (nameFields === null) records.push(paxRecord('path', entry.name));
  if (entry.bytes > mostOctal) records.push(paxRecord('size', String(entry.bytes)));
  const own = block(
    nameFields ?? { prefix: '', name: 'long' },
    Math.min(entry.bytes, mostOctal),
    entry.modifiedAt,
    '0',
  );
  if (records.length === 0) return own;
  const pax = Buffer.from(records.join(''), 'utf8');
  return Buffer.concat([
    block({ prefix: '', name: 'pax' }, pax.length, entry.modifiedAt, 'x'),
    pax,
    padding(pax.length),
    own,
  ]);
}

/** The padding of a file's last block. */
export const padding = (bytes: number): Buffer => Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);

/** Two empty blocks end an archive. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * blockBytes);

/** Null for the empty block at the end. Throws for an invalid header. */
export function readTarHeader(bytes: Buffer): TarHeader | null {
  if (bytes.every((byte) => byte === 0)) return null;
  const text = (from: number, length: number): string => {
    const field = bytes.subarray(from, from + length);
    const end = field.indexOf(0);
    return field.toString('utf8', 0, end === -1 ? length : end);
  };
  if (checksum(bytes) !== Number.parseInt(text(148, 8).trim(), 8)) throw new Error('a header is damaged');
  const prefix = text(257, 5) === 'ustar' && bytes[263] === 0x30 ? text(345, 155) : '';
  const name = text(0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    bytes: readSize(bytes.subarray(124, 136)),
    modifiedAt: Number.parseInt(text(136, 12).trim() || '0', 8) * 1000,
    kind: kinds[text(156, 1)] ?? 'other',
  };
}

const kinds: Readonly<Record<string, TarHeader['kind']>> = {
  '': 'file',
  '0': 'file',
  '5': 'folder',
  x: 'pax',
  g: 'globalPax',
  L: 'gnuName',
};

/** `path` and `size` of a pax header, if present. */
export function readPax(bytes: Buffer): { name?: string; bytes?: number } {
  const found: { name?: string; bytes?: number } = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space === -1 ? NaN : Number(bytes.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at || at + length > bytes.length)
      throw new Error('a pax header is damaged');
    const [key = '', ...value] = bytes.toString('utf8', space + 1, at + length - 1).split('=');
    if (key === 'path') found.name = value.join('=');
    if (key === 'size') found.bytes = Number(value.join('='));
    at += length;
  }
  return found;
}

/** A record includes its own length: digits, space, `key=value`, line end. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

/** Splits a name at a slash into the two header fields; null if it does not fit. */
function split(name: string): { prefix: string; name: string } | null {
  const bytes = Buffer.from(name, 'utf8');
  if (bytes.length <= 100) return { prefix: '', name };
  for (let at = bytes.length - 101; at < Math.min(bytes.length - 1, 156); at += 1) {
    if (at > 0 && bytes[at] === 0x2f)
      return { prefix: bytes.toString('utf8', 0, at), name: bytes.toString('utf8', at + 1) };
  }
  return null;
}

function block(nameFields: { prefix: string; name: string }, bytes: number, modifiedAt: number, type: string): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  header.write(nameFields.name, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(bytes, 11), 124);
  header.write(octal(Math.max(0, Math.floor(modifiedAt / 1000)), 11), 136);
  header.write(type, 156);
  header.write('ustar\u000000', 257);
  header.write(nameFields.prefix, 345);
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The sum of all bytes, with the checksum field itself counted as spaces. */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/** Octal digits, or GNU's form for larger numbers: first bit set, then a binary number. */
function readSize(field: Buffer): number {
  const size =
    (field[0]! & 0x80) === 0
      ? Number.parseInt(field.toString('latin1').replace(/\0.*$/s, '').trim() || '0', 8)
      : Number(field.readBigUInt64BE(4));
  if (!Number.isSafeInteger(size) || size < 0) throw new Error('a header is damaged');
  return size;
}
