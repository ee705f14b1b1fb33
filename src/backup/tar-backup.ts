import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { notFound, unavailable } from '../kernel/index.ts';
import { manifestName } from './manifest.ts';
import { blockBytes, padding, readPax, readTarHeader, tarEnd, tarHeader } from './tar-header.ts';
import type { TarHeader } from './tar-header.ts';

/**
 * A backup as a tar stream, below one folder with its name: the manifest comes first, so that a reader can check it
 * before the rest.
 * @param folder of a complete backup
 */
export async function* packBackup(folder: string): AsyncGenerator<Buffer> {
  const name = path.basename(folder);
  const relativePaths = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort((a, b) => Number(b === manifestName) - Number(a === manifestName) || (a < b ? -1 : 1));
  for (const relativePath of relativePaths) {
    const at = path.join(folder, relativePath);
    const { size: bytes, mtimeMs: modifiedAt } = await stat(at);
    yield tarHeader({ name: `${name}/${relativePath.split(path.sep).join('/')}`, bytes, modifiedAt });
    for await (const chunk of createReadStream(at)) yield chunk as Buffer;
    yield padding(bytes);
  }
  yield tarEnd();
}

/** Long enough for any name; a longer header is not one of ours. */
const maxDescription = 64 * 1024;

/**
 * Unpacks the stream of a backup into an empty folder. Extracts only regular files and folders, and only below that
 * folder; the restore compares them with the manifest. Throws `no_backup` for a stream without a manifest,
 * `backup_damaged` for a truncated one.
 * @returns the folder of the backup, below `target`
 */
export async function unpackBackup(stream: AsyncIterable<Buffer>, target: string): Promise<string> {
  const reader = new BlockReader(stream);
  let found: string | null = null;
  try {
    let described: { name?: string; bytes?: number } = {};
    for (let header = await nextHeader(reader); header !== null; header = await nextHeader(reader)) {
      if (header.kind === 'pax' || header.kind === 'gnuName' || header.kind === 'globalPax') {
        if (header.bytes > maxDescription) throw new Error('a description is too long');
        const bytes = await reader.whole(header.bytes);
        if (header.kind === 'pax') described = { ...described, ...readPax(bytes) };
        if (header.kind === 'gnuName') described = { ...described, name: bytes.toString('utf8').replace(/\0.*$/s, '') };
        continue;
      }
      const entry = { ...header, ...described };
      described = {};
      const relativePath = safeRelativePath(entry.name);
      if (entry.kind !== 'file' || relativePath === null) {
        await reader.pass(entry.bytes, async () => {});
        continue;
      }
      await writeEntry(reader, path.join(target, relativePath), entry);
      if (path.basename(relativePath) === manifestName) found ??= path.dirname(path.join(target, relativePath));
    }
  } catch (cause) {
    if (found === null) throw notFound('no_backup', 'This file is not a backup created with --tar.');
    throw unavailable(
      'backup_damaged',
      'The backup is damaged: its stream ends too early or was changed. Nothing was changed.',
      { cause },
    );
  }
  if (found === null) throw notFound('no_backup', 'This file is not a backup created with --tar.');
  return found;
}

async function nextHeader(reader: BlockReader): Promise<TarHeader | null> {
  return readTarHeader(await reader.take(blockBytes));
}

/** A relative path that stays below the folder; null for any other. */
function safeRelativePath(name: string): string | null {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return name.startsWith('/') || parts.length === 0 || parts.includes('..') || name.includes('\0')
    ? null
    : path.join(...parts);
}

async function writeEntry(reader: BlockReader, at: string, { bytes, modifiedAt }: TarHeader): Promise<void> {
  await mkdir(path.dirname(at), { recursive: true, mode: 0o700 });
  const file = await open(at, 'wx', 0o600);
  try {
    await reader.pass(bytes, async (chunk) => void (await file.write(chunk)));
  } finally {
    await file.close();
  }
  await utimes(at, modifiedAt / 1000, modifiedAt / 1000);
}

/** Reads a stream in chunks of the sizes that the format needs. Rejects at the end of the stream. */
class BlockReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Exactly this many bytes; for small sizes, because they are buffered. */
  async take(bytes: number): Promise<Buffer> {
    while (this.#rest.length < bytes) this.#rest = Buffer.concat([this.#rest, await this.#next()]);
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }

  /** The content of an entry in one buffer, without the padding of its last block. */
  async whole(bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    await this.pass(bytes, async (chunk) => void chunks.push(chunk));
    return Buffer.concat(chunks);
  }

  /** Passes the content of an entry on in chunks, and skips the padding of its last block. */
  async pass(bytes: number, write: (chunk: Buffer) => Promise<void>): Promise<void> {
    for (let left = bytes; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const chunk = this.#rest.subarray(0, left);
      await write(chunk);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
    }
    await this.take(padding(bytes).length);
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new Error('the stream ends too early');
    return Buffer.from(value);
  }
}
