/** A file that Git LFS keeps elsewhere: what is in git only names it. */
export interface LfsPointer {
  sha256: string;
  size: number;
}

const maxPointerBytes = 1_024;

export function readLfsPointer(content: Buffer): LfsPointer | null {
  if (
    content.length > maxPointerBytes ||
    !content.toString('latin1', 0, 40).startsWith('version https://git-lfs.github.com/spec/')
  )
    return null;
  const text = content.toString('latin1');
  const [sha256, size] = [/^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1], /^size (\d{1,15})$/m.exec(text)?.[1]];
  return sha256 === undefined || size === undefined ? null : { sha256, size: Number(size) };
}
