import { createHash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createInflate } from 'node:zlib';
import { nullIfAbsent } from '../../files/index.ts';
import { eachLimit } from '../../kernel/index.ts';
import { findBrokenRefs } from '../refs/refs.ts';

const chunkBytes = 256 * 1024;

/** Files that git derives from packs and commits and can rebuild; a corrupt one misleads git. */
const derived = /^(pack-.*\.(rev|bitmap|mtimes)|multi-pack-index.*)$/;
const looseFolder = /^[0-9a-f]{2}$/;
const looseName = /^[0-9a-f]{38}([0-9a-f]{24})?$/;
const loosesAtOnce = 4;

type Algorithm = 'sha1' | 'sha256';

/**
 * Compares the objects of a repository with their checksums, by reading each file once: packs and their indexes with
 * the checksum at their end (gitformat-pack(5)), loose objects with their names. Time is proportional to the bytes,
 * memory is not. Objects that a fork borrows are checked in its source. Also finds refs that git cannot read.
 * @returns one sentence per damaged file; skips files that a repack removes meanwhile
 */
export async function checkRepositoryFiles(repository: string): Promise<string[]> {
  const algorithm = await algorithmOf(repository);
  const damaged: string[] = [];
  const packs = await namesIn(path.join(repository, 'objects', 'pack'));
  for (const name of packs.filter((each) => /^pack-.*\.(pack|idx)$/.test(each)).sort())
    if ((await endsWithItsChecksum(path.join(repository, 'objects', 'pack', name), algorithm)) === false)
      damaged.push(`objects/pack/${name} does not match its checksum`);
  for (const name of await missingPacks(repository, packs)) damaged.push(`objects/pack/${name} is missing`);
  for (const folder of (await namesIn(path.join(repository, 'objects')))
    .filter((each) => looseFolder.test(each))
    .sort())
    damaged.push(...(await checkLooseObjects(repository, folder, algorithm)));
  for (const name of await findBrokenRefs(repository)) damaged.push(`${name} does not contain an object ID`);
  return damaged;
}

/**
 * Derived files that do not match their checksum, relative to the repository. git rebuilds each one after its removal.
 */
export async function findDamagedIndexes(repository: string): Promise<string[]> {
  const algorithm = await algorithmOf(repository);
  const candidates = [
    ...(await namesIn(path.join(repository, 'objects', 'pack')))
      .filter((name) => derived.test(name) && !name.endsWith('.d') && !name.endsWith('.lock'))
      .map((name) => `objects/pack/${name}`),
    'objects/info/commit-graph',
    ...(await namesIn(path.join(repository, 'objects', 'info', 'commit-graphs')))
      .filter((name) => name.endsWith('.graph'))
      .map((name) => `objects/info/commit-graphs/${name}`),
  ];
  const damaged: string[] = [];
  for (const relativePath of candidates)
    if ((await endsWithItsChecksum(path.join(repository, relativePath), algorithm)) === false)
      damaged.push(relativePath);
  return damaged;
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(nullIfAbsent)) ?? [];

async function algorithmOf(repository: string): Promise<Algorithm> {
  const config = (await readFile(path.join(repository, 'config'), 'utf8').catch(nullIfAbsent)) ?? '';
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 'sha256' : 'sha1';
}

/** Packs whose index is left alone; git removes the index of a pack first. */
async function missingPacks(repository: string, names: readonly string[]): Promise<string[]> {
  const packOf = (name: string): string => name.replace(/\.idx$/, '.pack');
  const suspects = names.filter((name) => /^pack-.*\.idx$/.test(name) && !names.includes(packOf(name)));
  if (suspects.length === 0) return [];
  // The folder may have been listed while git added or removed a pack.
  const again = await namesIn(path.join(repository, 'objects', 'pack'));
  return suspects
    .filter((name) => again.includes(name) && !again.includes(packOf(name)))
    .map(packOf)
    .sort();
}

async function checkLooseObjects(repository: string, folder: string, algorithm: Algorithm): Promise<string[]> {
  const damaged: string[] = [];
  const names = (await namesIn(path.join(repository, 'objects', folder))).filter((name) => looseName.test(name));
  await eachLimit(names.sort(), loosesAtOnce, async (name) => {
    if ((await hasItsName(path.join(repository, 'objects', folder, name), folder + name, algorithm)) === false)
      damaged.push(`objects/${folder}/${name} does not match its name`);
  });
  return damaged.sort();
}

/** Whether the name of a loose object is the digest of its content; null if the file no longer exists. */
async function hasItsName(file: string, id: string, algorithm: Algorithm): Promise<boolean | null> {
  const source = await open(file, 'r').catch(nullIfAbsent);
  if (source === null) return null;
  const hash = createHash(algorithm);
  const inflate = createInflate();
  try {
    const { size } = await source.stat();
    await pipeline(source.createReadStream({ highWaterMark: chunkBytes }), inflate, async (chunks) => {
      for await (const chunk of chunks) hash.update(chunk as Buffer);
    });
    // Bytes after the compressed content are not part of the digest.
    return hash.digest('hex') === id && inflate.bytesWritten === size;
  } catch (error) {
    if (/^Z_/.test(String((error as { code?: unknown }).code))) return false;
    throw error;
  } finally {
    await source.close();
  }
}

/** Null if the file no longer exists. */
async function endsWithItsChecksum(file: string, algorithm: Algorithm): Promise<boolean | null> {
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
