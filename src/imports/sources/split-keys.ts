const [begin, end] = ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '-----END PGP PUBLIC KEY BLOCK-----'];
/** RFC 9580: each key begins with the packet of its primary key. */
const publicKeyTag = 6;
const mostKeys = 50;

/**
 * The OpenPGP keys of an armored block that may have several, each as a block of its own; empty for anything else.
 * Looks at the heads of packets alone.
 */
export function splitKeys(armored: string): string[] {
  const from = armored.indexOf(begin);
  const upTo = armored.indexOf(end, from);
  if (from < 0 || upTo < 0) return [];
  const lines = armored.slice(from + begin.length, upTo).split(/\r?\n/);
  // Headers end with an empty line; a line of a checksum begins with `=`.
  const body = lines.slice(lines.findIndex((line, at) => at > 0 && line.trim() === '') + 1);
  const bytes = Buffer.from(body.filter((line) => !line.startsWith('=')).join(''), 'base64');
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const packet = readHead(bytes, at);
    if (packet === null) return [];
    if (packet.tag === publicKeyTag) starts.push(at);
    at = packet.next;
  }
  return starts.slice(0, mostKeys).map((start, at) => armor(bytes.subarray(start, starts[at + 1])));
}

/** Null for what is no packet, is cut off, or has no length, which no key has. */
function readHead(bytes: Buffer, at: number): { tag: number; next: number } | null {
  const head = bytes[at]!;
  if ((head & 0x80) === 0) return null;
  const isNew = (head & 0x40) !== 0;
  const tag = isNew ? head & 0x3f : (head >> 2) & 0x0f;
  const first = bytes[at + 1] ?? 0;
  const kind = head & 3;
  const size = isNew ? (first < 192 ? 1 : first < 224 ? 2 : first === 255 ? 5 : 0) : [1, 2, 4, 0][kind]!;
  if (size === 0 || at + 1 + size > bytes.length) return null;
  const length = !isNew
    ? bytes.readUIntBE(at + 1, size)
    : size === 1
      ? first
      : size === 2
        ? ((first - 192) << 8) + bytes[at + 2]! + 192
        : bytes.readUInt32BE(at + 2);
  const next = at + 1 + size + length;
  return next > bytes.length ? null : { tag, next };
}

const armor = (bytes: Buffer): string =>
  `${begin}\n\n${bytes.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n${end}\n`;
