import { internal } from '../../kernel/index.ts';

type EntryKind = 'folder' | 'file' | 'executable' | 'symlink' | 'submodule';

export interface TreeEntry {
  /** Decoded as text; bytes that are not UTF-8 become U+FFFD. */
  name: string;
  /** The name as bytes: one to thousands, of any value but NUL and slash. */
  rawName: Buffer;
  /** Octal, as printed by git: `040000`, `100644`, `100755`, `120000`, `160000`. */
  mode: string;
  kind: EntryKind;
  /** The object's type; a submodule is a commit of another repository. */
  type: 'tree' | 'blob' | 'commit';
  oid: string;
  /** Size of a blob in bytes, if it was requested. */
  size: number | null;
}

export interface Signature {
  name: string;
  email: string;
  /** Milliseconds since the epoch, clamped to the years 1 to 9999. */
  at: number;
  /** Minutes east of UTC, clamped to ±14 hours. */
  offsetMinutes: number;
}

export interface Commit {
  oid: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  /** The whole message. */
  message: string;
  /** The first paragraph of the message as one line. */
  subject: string;
  signature: CommitSignature | null;
  /** The header `change-id` of jj: sixteen bytes as hex digits whose alphabet is k to z. */
  changeId: string | null;
}

/** The signature of a commit or tag as stored, not verified. */
export interface CommitSignature {
  kind: 'ssh' | 'openpgp' | 'x509' | 'unknown';
  /** Includes the BEGIN and END lines. */
  text: string;
  /** The bytes that were signed. */
  signed: Buffer;
}

const kinds = new Map<string, EntryKind>([
  ['040000', 'folder'],
  ['120000', 'symlink'],
  ['160000', 'submodule'],
  ['100755', 'executable'],
]);

/**
 * Parses a tree object.
 * @param oidBytes 20 for SHA-1, 32 for SHA-256
 * @param maxEntries limit of parsed entries
 */
export function parseTree(
  content: Buffer,
  oidBytes: number,
  maxEntries: number,
): { entries: TreeEntry[]; truncated: boolean } {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < content.length) {
    if (entries.length === maxEntries) return { entries, truncated: true };
    const space = content.indexOf(0x20, at);
    const nul = content.indexOf(0, space + 1);
    const end = nul + 1 + oidBytes;
    if (space === -1 || nul === -1 || end > content.length) throw internal('a tree object is damaged');
    const mode = content.toString('latin1', at, space).padStart(6, '0');
    const kind = kinds.get(mode) ?? 'file';
    entries.push({
      name: content.toString('utf8', space + 1, nul),
      rawName: content.subarray(space + 1, nul),
      mode,
      kind,
      type: kind === 'folder' ? 'tree' : kind === 'submodule' ? 'commit' : 'blob',
      oid: content.toString('hex', nul + 1, end),
      size: null,
    });
    at = end;
  }
  return { entries, truncated: false };
}

/** Parses a commit object. The result is well-formed for any content. */
export function parseCommit(oid: string, content: Buffer): Commit {
  const blank = content.indexOf('\n\n');
  const headerEnd = blank === -1 ? content.length : blank;
  const headers = content.toString('latin1', 0, headerEnd).split('\n');
  const values = (name: string) =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const decode = textDecoder(values('encoding')[0]);
  // Web editors use CRLF line ends; the two are equivalent.
  const message = decode(content.subarray(Math.min(headerEnd + 2, content.length))).replaceAll('\r\n', '\n');
  const person = (name: string) => parseSignature(decode(Buffer.from(values(name)[0] ?? '', 'latin1')));
  return {
    oid,
    tree: values('tree')[0] ?? '',
    parents: values('parent'),
    author: person('author'),
    committer: person('committer'),
    message,
    subject: message
      .trimStart()
      .split(/\n\s*\n/, 1)[0]!
      .split('\n')
      .join(' ')
      .trim(),
    signature: readSignature(oid, headers, content.subarray(headerEnd)),
    changeId: values('change-id').find((value) => /^[k-z]{32}$/.test(value)) ?? null,
  };
}

const signatureHeader = /^gpgsig(?:-sha256)? /;

/**
 * The signature in a commit's headers. It covers everything else: git removes both signature headers, one per object
 * format, before it signs.
 */
function readSignature(oid: string, headers: readonly string[], rest: Buffer): CommitSignature | null {
  const name = oid.length === 64 ? 'gpgsig-sha256 ' : 'gpgsig ';
  const text: string[] = [];
  const others: string[] = [];
  let inside: string[] | null = others;
  for (const line of headers) {
    // A line that begins with a space continues the previous header.
    if (!line.startsWith(' ')) inside = line.startsWith(name) ? text : signatureHeader.test(line) ? null : others;
    if (inside === text) text.push(line.startsWith(' ') ? line.slice(1) : line.slice(name.length));
    else inside?.push(line);
  }
  if (text.length === 0) return null;
  return { ...signatureOf(text.join('\n')), signed: Buffer.concat([Buffer.from(others.join('\n'), 'latin1'), rest]) };
}

const signatureKinds = new Map<string, CommitSignature['kind']>([
  ['SSH SIGNATURE', 'ssh'],
  ['PGP SIGNATURE', 'openpgp'],
  ['PGP MESSAGE', 'openpgp'],
  ['SIGNED MESSAGE', 'x509'],
]);

/**
 * @param text as stored, from its BEGIN line
 */
export function signatureOf(text: string): Pick<CommitSignature, 'kind' | 'text'> {
  return { kind: signatureKinds.get(/^-----BEGIN ([A-Z ]+)-----/.exec(text)?.[1] ?? '') ?? 'unknown', text };
}

/** A decoder for the encoding that the commit declares; UTF-8 if it is unknown or missing. */
function textDecoder(label = 'utf-8'): (bytes: Buffer) => string {
  try {
    const decoder = new TextDecoder(label.trim());
    return (bytes) => decoder.decode(bytes);
  } catch {
    return (bytes) => bytes.toString('utf8');
  }
}

const years = { first: -62_135_596_800_000, last: 253_402_300_799_000 };

/** Parses `Name <email> seconds +hhmm`, with any part missing or out of range. */
export function parseSignature(line: string): Signature {
  const [, name = line, email = '', rest = ''] = /^(.*?) ?<([^>]*)>(.*)$/s.exec(line) ?? [];
  const [, seconds = '0', sign = '+', hours = '0', minutes = '0'] =
    /^ *(-?\d{1,20})(?: ([+-])(\d{2,8}?)(\d\d))?/.exec(rest) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  return {
    name: name.trim(),
    email: email.trim(),
    at: clamp(Number(seconds) * 1_000, years.first, years.last),
    offsetMinutes: clamp(offset, -14 * 60, 14 * 60),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
