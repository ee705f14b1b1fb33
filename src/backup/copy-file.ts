import { createHash } from 'node:crypto';
import { link, open, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { FileEntry } from './manifest.ts';

/** The same file as an earlier backup has it. */
export interface EarlierFile {
  /** Absolute path of the earlier copy. */
  at: string;
  entry: FileEntry;
  /** When that backup began: what was changed shortly before may have changed again unseen. */
  readAt: number;
}

const chunkBytes = 256 * 1024;
/** File times move in steps; a file younger than this when it was read is not known by its time. */
const settledMs = 2_000;

/**
 * Copies one file and says what was copied. A file that an earlier backup has already
 * becomes a hard link to it: the same bytes on disk once.
 * @param to in a folder that is there
 * @param isPassing whether the copy may be gone after a power failure: then nobody waits for the disk
 * Fails with ENOENT when the file is gone.
 */
export async function copyFile(
  from: string,
  to: string,
  earlier: EarlierFile | null = null,
  isPassing = false,
): Promise<FileEntry> {
  if (earlier !== null) {
    const { size, mtimeMs } = await stat(from);
    if (isSame(earlier, size, Math.round(mtimeMs)) && (await linked(earlier.at, to))) return earlier.entry;
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

/** @param size as far as is known: most files are small, and thousands of them should not fill memory */
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

/** Another file system, a file system without links, or a copy that somebody removed: then it is copied. */
async function linked(earlier: string, to: string): Promise<boolean> {
  return link(earlier, to).then(
    () => true,
    () => false,
  );
}
