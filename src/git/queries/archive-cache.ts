import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs, utimes } from 'node:fs/promises';
import path from 'node:path';
import { pipeline, Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import type { ArchiveRequest } from './stream-downloads.ts';

/**
 * Archives on disk, below `cache/`: derived data that can be deleted. They are keyed by commit, not by tree: for a tree
 * git writes the current time into the archive. The caller checks access.
 */
interface ArchiveCache {
  /**
   * The archive from disk, or from `make`, whose bytes are stored as they pass; an incomplete or volatile archive is
   * not stored.
   */
  open(repository: string, request: ArchiveRequest, make: () => Promise<MadeArchive>): Promise<Readable>;
  forget(repository: string): Promise<void>;
}

interface MadeArchive {
  stream: Readable;
  /** Whether it depends only on the commit. */
  isLasting: boolean;
}

interface ArchiveLimits {
  /** Size limits in bytes: total and per archive. */
  most: number;
  mostEach: number;
  /** Free disk space below which nothing is stored, in bytes. */
  lowDiskFloorBytes: number;
}

export function createArchiveCache(root: string, { most, mostEach, lowDiskFloorBytes }: ArchiveLimits): ArchiveCache {
  // The folder is named by the repository's id, which stays when its owner changes.
  const folderOf = (repository: string): string => path.join(root, path.basename(repository, '.git'));

  async function read(place: string): Promise<Readable | null> {
    const file = await open(place, 'r').catch(() => null);
    if (file === null) return null;
    const now = new Date();
    await utimes(place, now, now).catch(() => {});
    return createReadStream('', { fd: file });
  }

  async function hasFreeSpace(): Promise<boolean> {
    const { bavail, bsize } = await statfs(root);
    return bavail * bsize - mostEach > lowDiskFloorBytes;
  }

  /** Removes the least recently used archives until the rest fits. */
  async function evict(): Promise<void> {
    const names = await readdir(root, { recursive: true });
    const files = (
      await Promise.all(
        names.map(async (name) => {
          const found = await stat(path.join(root, name)).catch(() => null);
          return found?.isFile() ? { place: path.join(root, name), bytes: found.size, at: found.mtimeMs } : [];
        }),
      )
    )
      .flat()
      .sort((a, b) => b.at - a.at);
    let bytes = 0;
    for (const file of files) {
      bytes += file.bytes;
      if (bytes > most) await rm(file.place, { force: true });
    }
  }

  return {
    async open(repository, request, make) {
      const { oid, format, prefix } = request;
      const folder = folderOf(repository);
      const place = path.join(
        folder,
        `${createHash('sha256').update(`${oid}\0${prefix}`).digest('hex').slice(0, 32)}.${format}`,
      );
      const known = await read(place);
      if (known !== null) return known;
      const { stream: source, isLasting } = await make();
      if (!isLasting) return source;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        if (!(await hasFreeSpace())) return source;
      } catch {
        return source;
      }
      const unfinished = path.join(folder, `${randomUUID()}.new`);
      const copy = copyTo(createWriteStream(unfinished, { mode: 0o600 }), mostEach, async () => {
        await rename(unfinished, place);
        await evict();
      });
      pipeline(source, copy, () => void rm(unfinished, { force: true }));
      return copy;
    },
    forget: (repository) => rm(folderOf(repository), { recursive: true, force: true }),
  };
}

/** Passes bytes on and copies them to a file; a disk error loses the copy, never the download. */
function copyTo(file: WriteStream, most: number, keep: () => Promise<void>): Transform {
  let bytes = 0;
  let isWriting = true;
  const abandon = () => {
    isWriting = false;
    file.destroy();
  };
  file.on('error', abandon);
  return new Transform({
    transform(chunk: Buffer, _encoding, pass) {
      bytes += chunk.length;
      if (bytes > most) abandon();
      if (!isWriting || file.write(chunk)) return pass(null, chunk);
      const resume = () => {
        file.off('drain', resume).off('close', resume);
        pass(null, chunk);
      };
      file.on('drain', resume).on('close', resume);
    },
    flush(pass) {
      if (!isWriting) return pass();
      file.end(
        () =>
          void keep().then(
            () => pass(),
            () => pass(),
          ),
      );
    },
    destroy(error, done) {
      abandon();
      done(error);
    },
  });
}
