import { createHash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent } from '../../files/index.ts';

const chunkBytes = 256 * 1024;

/**
 * Compares the packs of a repository and their indexes with the checksum at the end of each (gitformat-pack(5)): one
 * changed byte is found by reading the files once, without unpacking an object.
 * @returns one sentence for each damaged file; files that a repack removes meanwhile are skipped
 */
export async function checkPacks(repository: string): Promise<string[]> {
  const folder = path.join(repository, 'objects', 'pack');
  const names = ((await readdir(folder).catch(nullIfAbsent)) ?? []).filter((name) =>
    /^pack-.*\.(pack|idx)$/.test(name),
  );
  if (names.length === 0) return [];
  const config = (await readFile(path.join(repository, 'config'), 'utf8').catch(nullIfAbsent)) ?? '';
  const algorithm = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 'sha256' : 'sha1';
  const damaged: string[] = [];
  for (const name of names.sort())
    if ((await isIntact(path.join(folder, name), algorithm)) === false)
      damaged.push(`objects/pack/${name} does not match its checksum`);
  return damaged;
}

/** Null when the file is gone. */
async function isIntact(file: string, algorithm: 'sha1' | 'sha256'): Promise<boolean | null> {
  const source = await open(file, 'r').catch(nullIfAbsent);
  if (source === null) return null;
  try {
    const hash = createHash(algorithm);
    const trailerBytes = algorithm === 'sha1' ? 20 : 32;
    const { size } = await source.stat();
    const end = size - trailerBytes;
    if (end <= 0) return false;
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, end));
    for (let at = 0; at < end; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) return false;
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    const trailer = Buffer.alloc(trailerBytes);
    await source.read(trailer, 0, trailerBytes, end);
    return hash.digest().equals(trailer);
  } finally {
    await source.close();
  }
}
