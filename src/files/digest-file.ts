import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Size in bytes and SHA-256 in hex of a file, read once, a megabyte at a time. */
export async function digestFile(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
