import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

const blockBytes = 512;
/** Limit of unpacked bytes of a tarball; a shrinkwrap after it is not found. */
const maxUnpackedBytes = 256 * 1024 * 1024;

/**
 * Whether a package contains an `npm-shrinkwrap.json`, as packed by npm: a gzipped tar (POSIX ustar) with one folder at
 * the top. False for an invalid file. Reads only the headers of entries, in time linear in the unpacked size, at most
 * 256 MiB.
 */
export async function hasShrinkwrap(tarball: Buffer): Promise<boolean> {
  const unpacked = createGunzip({ chunkSize: 64 * 1024 });
  const source = Readable.from([tarball]);
  source.on('error', () => unpacked.destroy());
  let [head, skipped, read] = [Buffer.alloc(0), 0, 0];
  try {
    for await (const chunk of source.pipe(unpacked) as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read > maxUnpackedBytes) return false;
      for (let at = 0; at < chunk.length; ) {
        const step = Math.min(skipped, chunk.length - at);
        skipped -= step;
        at += step;
        const part = chunk.subarray(at, at + blockBytes - head.length);
        if (part.length === 0) continue;
        head = Buffer.concat([head, part]);
        at += part.length;
        if (head.length < blockBytes) continue;
        const entry = readHead(head);
        if (entry === null) return false;
        if (entry.isShrinkwrap) return true;
        skipped = Math.ceil(entry.bytes / blockBytes) * blockBytes;
        head = Buffer.alloc(0);
      }
    }
  } catch {
    // It is not gzip, or truncated.
  } finally {
    unpacked.destroy();
  }
  return false;
}

/** The header of a tar entry; null at the end, and for an invalid one. */
function readHead(head: Buffer): { bytes: number; isShrinkwrap: boolean } | null {
  if (head[0] === 0) return null;
  const [name, size, type] = [textAt(head, 0, 100), textAt(head, 124, 12).trim(), String.fromCharCode(head[156]!)];
  if (!/^[0-7]{1,11}$/.test(size)) return null;
  return {
    bytes: Number.parseInt(size, 8),
    isShrinkwrap: (type === '0' || type === '\0') && /^[^/]+\/npm-shrinkwrap\.json$/.test(name),
  };
}

/** A text field, which ends at a zero byte or at its maximum length. */
function textAt(head: Buffer, at: number, length: number): string {
  return head.toString('latin1', at, at + length).split('\0', 1)[0]!;
}
