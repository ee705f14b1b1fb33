import { internal } from '../../kernel/index.ts';

/**
 * Whether git resolves `<tree>:<path>` to this path in a line of `git cat-file --batch-command`: printable ASCII,
 * without special components.
 * @param path one character per byte; empty for the root
 */
export function isNameable(path: string): boolean {
  return path === '' || (/^[\x20-\x7e]+$/.test(path) && !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path));
}

/** Names of this length cannot occur in an object id by chance: finding such an id would take 2^110 attempts. */
const unmistakable = 12;

/**
 * The bytes of one entry in a tree object; null if the tree has no such name. Throws for a corrupt tree.
 * @param oidBytes 20 for SHA-1, 32 for SHA-256
 */
export function findEntry(content: Buffer, oidBytes: number, name: Buffer): Buffer | null {
  // Searching for the bytes is many times faster than parsing the entries.
  const needle = Buffer.concat([space, name, nul]);
  const found = content.indexOf(needle);
  if (found === -1) return null;
  if (name.length >= unmistakable) return entryAround(content, found, found + needle.length + oidBytes);
  for (let at = 0; at < content.length; ) {
    const nameAt = content.indexOf(0x20, at) + 1;
    const nameEnd = content.indexOf(0, nameAt);
    const end = nameEnd + 1 + oidBytes;
    if (nameAt === 0 || nameEnd === -1 || end > content.length) throw internal('a tree object is damaged');
    if (nameEnd - nameAt === name.length && name.compare(content, nameAt, nameEnd) === 0)
      return content.subarray(at, end);
    at = end;
  }
  return null;
}

const space = Buffer.from(' ');
const nul = Buffer.from('\0');

/**
 * @param found position of the space after the mode: five digits for a folder, six for other types
 */
function entryAround(content: Buffer, found: number, end: number): Buffer {
  if (found < 5 || end > content.length) throw internal('a tree object is damaged');
  const isFolder = content.toString('latin1', found - 5, found) === '40000';
  return content.subarray(Math.max(0, found - (isFolder ? 5 : 6)), end);
}

/**
 * Mode and id of an entry, as git compares them: a file's mode only shows whether its owner may execute it, because old
 * trees have other modes, such as 100664. Empty for none.
 */
export function describeEntry(entry: Buffer | null, oidBytes: number): string {
  if (entry === null) return '';
  const bits = Number.parseInt(entry.toString('latin1', 0, entry.indexOf(0x20)), 8);
  const mode = (bits & 0o170000) !== 0o100000 ? bits.toString(8) : (bits & 0o100) === 0 ? '100644' : '100755';
  return `${mode} ${entry.toString('hex', entry.length - oidBytes)}`;
}
