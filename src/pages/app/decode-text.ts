/** The encoding of a file. */
interface FileText {
  text: string;
  /** The name that pages show. */
  encoding: 'UTF-8' | 'UTF-16' | 'Latin-1';
  /** The charset in the header of raw responses. */
  charset: string;
}

const sniffed = 8_000;

const byteOrderMarks: readonly [mark: Buffer, label: string, encoding: FileText['encoding'], charset: string][] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8', 'UTF-8', 'utf-8'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le', 'UTF-16', 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be', 'UTF-16', 'utf-16be'],
];

/**
 * Text in the encoding of its byte-order mark, else UTF-8 if valid, else the legacy Western encoding in which every
 * byte is valid. Null for binary: a NUL near the beginning, git's criterion.
 */
export function decodeFileText(bytes: Buffer): FileText | null {
  for (const [mark, label, encoding, charset] of byteOrderMarks) {
    if (bytes.subarray(0, mark.length).equals(mark))
      return { text: new TextDecoder(label).decode(bytes), encoding, charset };
  }
  if (bytes.subarray(0, sniffed).includes(0)) return null;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'UTF-8', charset: 'utf-8' };
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'Latin-1', charset: 'windows-1252' };
  }
}

/** The charset of raw responses, from the first bytes of a file; null for binary. */
export function charsetOf(bytes: Buffer, isWhole: boolean): string | null {
  // The end of the sample may split a character.
  const text = decodeFileText(isWhole ? bytes : bytes.subarray(0, Math.max(0, lastWholeCharacter(bytes))));
  return text?.charset ?? null;
}

function lastWholeCharacter(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && end > bytes.length - 4 && (bytes[end - 1]! & 0xc0) === 0x80) end -= 1;
  return end > 0 && bytes[end - 1]! >= 0xc0 ? end - 1 : bytes.length;
}
