/** A file that Git LFS keeps elsewhere: what is in git only names it (Git LFS Specification). */
export interface LfsPointer {
  oid: string;
  bytes: number;
}

/** A file with more bytes is no pointer. */
export const maxPointerBytes = 1_024;
/** A file with fewer is none either: the version, the id and a size of one digit. */
export const minPointerBytes = 120;

const version = /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1$/;

/** The pointer that a file is; null for every other file. */
export function readPointer(content: Buffer): LfsPointer | null {
  if (content.length > maxPointerBytes || content.length < minPointerBytes) return null;
  const lines = content.toString('latin1').split('\n');
  if (!version.test(lines[0]!.trimEnd())) return null;
  const text = lines.join('\n');
  const [oid, size] = [/^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1], /^size (\d{1,15})$/m.exec(text)?.[1]];
  return oid === undefined || size === undefined ? null : { oid, bytes: Number(size) };
}
