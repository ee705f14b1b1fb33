/** Pages that show a path at a ref. */
export type CodePage = 'tree' | 'blob' | 'raw' | 'blame' | 'commits' | 'find';

/** Pages that change files at a path of a branch. */
type EditingPage = 'edit' | 'new' | 'delete' | 'upload';

const special = /[^A-Za-z0-9/._~!$&'()*+,;=:@-]/;

/** The percent-encoding of each byte. */
const encodedBytes = Array.from({ length: 0x100 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return !special.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** A path as part of a URL. It is encoded byte by byte, because git's names are bytes. */
export function encodePath(path: Buffer): string {
  const plain = path.toString('latin1');
  if (!special.test(plain)) return plain;
  let text = '';
  for (const byte of path) text += encodedBytes[byte]!;
  return text;
}

/** Reverses `encodePath`. */
export const decodePath = (text: string): Buffer =>
  Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );

export const encodeRef = (ref: string): string => encodePath(Buffer.from(ref));

/** `{repository}/{page}/{ref}/{path}` */
export function codeUrl(
  repositoryUrl: string,
  page: CodePage | EditingPage,
  ref: string,
  file: Buffer = Buffer.alloc(0),
): string {
  return `${repositoryUrl}/${page}/${encodeRef(ref)}${file.length === 0 ? '' : `/${encodePath(file)}`}`;
}

export const commitUrl = (repositoryUrl: string, oid: string): string => `${repositoryUrl}/commit/${oid}`;

/** Splits a path at its last slash. */
export function splitPath(file: Buffer): { folder: Buffer; name: Buffer } {
  const slash = file.lastIndexOf(0x2f);
  return slash === -1
    ? { folder: Buffer.alloc(0), name: file }
    : { folder: file.subarray(0, slash), name: file.subarray(slash + 1) };
}

export const joinPath = (folder: Buffer, name: Buffer): Buffer =>
  folder.length === 0 ? name : Buffer.concat([folder, Buffer.from('/'), name]);
