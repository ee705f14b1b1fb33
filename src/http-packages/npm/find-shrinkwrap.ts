import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

const blockBytes = 512;
/** Limit of what is unpacked of a tarball; a shrinkwrap behind it is not found. */
const maxUnpackedBytes = 256 * 1024 * 1024;

/**
 * Whether a package has an `npm-shrinkwrap.json`, as npm packs it: a gzipped tar (POSIX ustar) with one folder at the
 * top. False for what is no such file. Reads heads of entries alone, in time linear in what is unpacked, at most
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
    // It is no gzip, or was cut off.
  } finally {
    unpacked.destroy();
  }
  return false;
}

/** The head of an entry of a tar; null for its end, and for what is none. */
function readHead(head: Buffer): { bytes: number; isShrinkwrap: boolean } | null {
  if (head[0] === 0) return null;
  const [name, size, type] = [textAt(head, 0, 100), textAt(head, 124, 12).trim(), String.fromCharCode(head[156]!)];
  if (!/^[0-7]{1,11}$/.test(size)) return null;
  return {
    bytes: Number.parseInt(size, 8),
    isShrinkwrap: (type === '0' || type === '\0') && /^[^/]+\/npm-shrinkwrap\.json$/.test(name),
  };
}

/** A field of text, which ends with a zero byte or where it is full. */
function textAt(head: Buffer, at: number, length: number): string {
  return head.toString('latin1', at, at + length).split('\0', 1)[0]!;
}
