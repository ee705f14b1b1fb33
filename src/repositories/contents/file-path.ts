import { invalid } from '../../kernel/index.ts';

/** Linux limits in bytes (PATH_MAX, NAME_MAX): longer paths could not be checked out. */
const maxPathBytes = 4_096;
const maxNameBytes = 255;
/** Source code has no deeper folders, and each is a tree to write. */
const maxDepth = 100;

/** Characters that HFS+ ignores when it compares names (git's utf8.c, next_hfs_char). */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Characters that change the order in which a name is displayed, so that it looks like another name with another
 * extension.
 */
const reordering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Files that git interprets, with the start of their short names on NTFS (git's path.c, is_ntfs_dot_generic). */
const readByGit = new Set(['.gitmodules', '.gitattributes', '.gitignore', '.mailmap']);
const shortNames = /^(?:git|gitmod|gitatt|gitign|mailma|gi7eba|gi7d29|gi250a|maba30)~\d/;

/**
 * Validates the path of a file in a commit by the server, and returns it unchanged. Throws `invalid_path` for a missing
 * name, an absolute path, empty parts, `.` and `..`, control characters, a backslash, invalid Unicode, names that git,
 * HFS+ or NTFS read as `.git`, other spellings of files that git interprets, and paths longer or deeper than a checkout
 * allows.
 */
export function parseFilePath(text: string): string {
  if (text === '') throw wrong('Give the file a name.');
  if (!text.isWellFormed()) throw wrong('This name is not valid Unicode.');
  if (text.startsWith('/')) throw wrong('A path begins with a name, not with a slash.');
  if (text.endsWith('/')) throw wrong('A path ends with the name of a file, not with a slash.');
  if (/[\x00-\x1f\x7f]/.test(text)) throw wrong('A name may not have control characters.');
  if (text.includes('\\')) throw wrong('A name may not have a backslash. Folders are separated by "/".');
  if (Buffer.byteLength(text) > maxPathBytes) throw wrong(`A path has at most ${maxPathBytes} bytes.`);
  const names = text.split('/');
  if (names.length > maxDepth) throw wrong(`A path has at most ${maxDepth} folders.`);
  for (const name of names) {
    if (name === '') throw wrong('A path may not have empty parts: "//".');
    if (name === '.' || name === '..') throw wrong('"." and ".." cannot be part of a path.');
    if (Buffer.byteLength(name) > maxNameBytes) throw wrong(`A name has at most ${maxNameBytes} bytes.`);
    if (isReserved(name)) throw wrong(`"${name}" is a name that is reserved for git.`);
  }
  return text;
}

/**
 * Throws `invalid_path` for a name that is displayed in another order than it is written (security C07). Only for new
 * names: a pushed file can still be changed, renamed and deleted.
 */
export function refuseReorderedName(path: string): void {
  if (reordering.test(path)) throw wrong('A name may not have characters that change the order of a line.');
}

function isReserved(name: string): boolean {
  const onHfs = name.replace(ignoredByHfs, '').toLowerCase();
  // NTFS ends a name at a stream's colon, and drops trailing dots and spaces.
  const onNtfs = name
    .replace(/:.*$/s, '')
    .replace(/[ .]+$/, '')
    .toLowerCase();
  return [onHfs, onNtfs].some(
    (folded) => folded === '.git' || shortNames.test(folded) || (readByGit.has(folded) && folded !== name),
  );
}

const wrong = (message: string) => invalid('invalid_path', message, { field: 'path' });
