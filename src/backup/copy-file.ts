import { createHash } from 'node:crypto';
import { link, open, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { FileEntry } from './manifest.ts';

/** An identical file in an earlier backup. */
export interface EarlierFile {
  /** Absolute path of the earlier copy. */
  at: string;
  entry: FileEntry;
  /** Start of that backup: a file changed shortly before may have changed again within the resolution of file times. */
  readAt: number;
}

const chunkBytes = 256 * 1024;
/**
 * File times have a limited resolution; a file that was younger than this when it was read cannot be identified by its
 * time.
 */
const settledMs = 2_000;

/**
 * Copies one file and returns its entry. A file that an earlier backup contains becomes a hard link to that copy, so
 * the bytes are on disk once.
 * @param to in an existing folder
 * @param isPassing whether the copy may be lost in a power failure; if so, it is not synced Fails with ENOENT if the
 *   file no longer exists.
 */
export async function copyFile(
  from: string,
  to: string,
  earlier: EarlierFile | null = null,
  isPassing = false,
): Promise<FileEntry> {
  if (earlier !== null) {
    const { size, mtimeMs } = await stat(from);
    if (isSame(earlier, size, Math.round(mtimeMs)) && (await linkCopy(earlier.at, to))) return earlier.entry;
  }
  const source = await open(from, 'r');
  try {
    const { size, mtimeMs } = await source.stat();
    const modifiedAt = Math.round(mtimeMs);
    const target = await open(to, 'wx', 0o600);
    try {
      const copied = await pump(source, target, size);
      await target.utimes(mtimeMs / 1000, mtimeMs / 1000);
      if (!isPassing) await target.sync();
      return [copied.bytes, modifiedAt, copied.sha256];
    } catch (error) {
      await rm(to, { force: true });
      throw error;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** SHA-256 and size of a file. */
export async function hashFile(file: string): Promise<{ bytes: number; sha256: string }> {
  const source = await open(file, 'r');
  try {
    const { size } = await source.stat();
    return await pump(source, null, size);
  } finally {
    await source.close();
  }
}

/** @param size if known: most files are small, and thousands of concurrent copies must not fill memory */
async function pump(
  source: FileHandle,
  target: FileHandle | null,
  size: number,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size + 1));
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    if (target !== null) await target.writeFile(chunk);
    bytes += bytesRead;
  }
}

function isSame({ entry: [bytes, time], readAt }: EarlierFile, size: number, modifiedAt: number): boolean {
  return bytes === size && time === modifiedAt && time < readAt - settledMs;
}

/** Falls back to copying between file systems, on a file system without hard links, and if the copy was removed. */
export async function linkCopy(earlier: string, to: string): Promise<boolean> {
  return link(earlier, to).then(
    () => true,
    () => false,
  );
}
