/** A file whose content is in Git LFS: git stores only this pointer (Git LFS Specification). */
export interface LfsPointer {
  oid: string;
  bytes: number;
}

/** Size limit of pointers in bytes. */
export const maxPointerBytes = 1_023;
/** Minimum size of pointers: the shortest version, the id and a size of one digit. */
export const minPointerBytes = 114;

/** The last two URLs predate the first release. */
const versions: readonly string[] = [
  'https://git-lfs.github.com/spec/v1',
  'https://hawser.github.com/spec/v1',
  'http://git-media.io/v/2',
];
const keys = ['version', 'oid', 'size'] as const;
const oidForm = /^sha256:([0-9a-f]{64})$/;
const sizeForm = /^\+?(\d{1,15})$/;
/** Programs that have changed the content before it was stored, by priority. */
const extensionForm = /^ext-(\d)-\w/;

/**
 * The pointer in a file; null for every other file. Accepts the same files as `git lfs`: the keys in this order,
 * extensions anywhere after a key and before the end, nothing else.
 */
export function readPointer(content: Buffer): LfsPointer | null {
  if (content.length > maxPointerBytes || content.length < minPointerBytes) return null;
  const values: string[] = [];
  const priorities = new Set<string>();
  for (const line of content
    .toString('latin1')
    .replace(/^[\t-\r ]+|[\t-\r ]+$/g, '')
    .split(/\r?\n/)) {
    if (line === '') continue;
    const end = line.indexOf(' ');
    if (end === -1 || values.length === keys.length) return null;
    const [key, value] = [line.slice(0, end), line.slice(end + 1)];
    if (key === keys[values.length]) values.push(value);
    else {
      const priority = extensionForm.exec(key)?.[1];
      if (priority === undefined || priorities.has(priority) || !oidForm.test(value)) return null;
      priorities.add(priority);
    }
  }
  const [version = '', oidText = '', sizeText = ''] = values;
  const [oid, size] = [oidForm.exec(oidText)?.[1], sizeForm.exec(sizeText)?.[1]];
  return !versions.includes(version) || oid === undefined || size === undefined ? null : { oid, bytes: Number(size) };
}
