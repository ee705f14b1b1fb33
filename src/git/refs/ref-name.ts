import { isUtf8 } from 'node:buffer';

/** Namespaces that a push may write. */
const pushable = ['refs/heads/', 'refs/tags/', 'refs/notes/'];

/** Gerrit's namespaces, which a repository accepts if its settings allow them. */
export const gerritFolders: readonly string[] = ['refs/changes/', 'refs/meta/'];

/** Namespaces reserved for the server; other forges use the same names. */
const reserved = ['refs/pull/', 'refs/for/', 'refs/hearth/'];

/** Namespace of names that exist only in pushes: `refs/for/<branch>` proposes commits for a branch. */
export const reviewFolder = 'refs/for/';

/** Whether a command is a push for review. @param name one character per byte, or as text */
export const isForReview = (name: string): boolean => name.startsWith(reviewFolder);

/** Why a push may not write refs of the server. */
export const reservedForServer = 'reserved for the server';

/** Length limit of a ref name, in bytes. */
const maxRefNameBytes = 1_000;

/** Matches nearly all names; tested first, because a listing may have a hundred thousand. */
const ordinaryName = /^refs(?:\/[\w+-]+(?:\.[\w+-]+)*)+$/;

/**
 * The rules of `git check-ref-format` for a full name below `refs/`.
 * @param name one character per byte or as text: every rule concerns ASCII only
 */
export function isWellFormedRef(name: string): boolean {
  if (ordinaryName.test(name) && !name.includes('.lock')) return true;
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(name)) return false;
  if (name.includes('..') || name.includes('@{') || name.endsWith('.')) return false;
  const components = name.split('/');
  return (
    components.length > 1 && components.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/** Whether `name` can be a branch: whether `git check-ref-format --branch` accepts it, without its shorthands. */
export function isBranchName(name: string): boolean {
  return !name.startsWith('-') && name !== 'HEAD' && isWellFormedRef(`refs/heads/${name}`);
}

/** A full object id. It always names that object, even if a ref has the same name, as in gitrevisions(7). */
export const isWholeId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/**
 * Why a new branch or tag may not have this name (without its folder): URLs and git's own revisions would parse it as a
 * full name, as HEAD or as an object id. Null for all others.
 */
export function refuseShortName(short: string): string | null {
  if (short.startsWith('-')) return 'a new name may not start with "-"';
  if (short === 'HEAD' || short === '@') return `a new name may not be ${short}`;
  if (isWholeId(short.toLowerCase())) return 'a new name may not look like an object id';
  return short.startsWith('refs/') ? 'a new name may not start with "refs/"' : null;
}

/** Whether a ref belongs to the server itself. @param name one character per byte, or as text */
const isReserved = (name: string): boolean => reserved.some((folder) => name.startsWith(folder));

/**
 * The reason why a push may not write this ref, as a message for the user, or null.
 * @param rawName the name as received
 * @param creates whether the ref would be new; an existing one with an unusual name may still be moved and removed
 * @param extraFolders namespaces that the repository accepts besides branches, tags and notes
 */
export function refuseRef(rawName: Buffer, creates: boolean, extraFolders: readonly string[] = []): string | null {
  if (rawName.length > maxRefNameBytes) return `a ref name has at most ${maxRefNameBytes} bytes`;
  if (!isUtf8(rawName)) return 'a ref name must be valid UTF-8';
  const name = rawName.toString('utf8');
  const folder = [...pushable, ...extraFolders].find((prefix) => name.startsWith(prefix));
  if (folder === undefined && isReserved(name)) return reservedForServer;
  if (folder === undefined) {
    return gerritFolders.some((prefix) => name.startsWith(prefix))
      ? "this repository does not take Gerrit's refs; its settings can allow them"
      : 'only refs/heads/, refs/tags/ and refs/notes/ can be pushed';
  }
  if (!isWellFormedRef(name)) return 'this is not a valid ref name';
  return creates ? refuseShortName(name.slice(folder.length)) : null;
}
