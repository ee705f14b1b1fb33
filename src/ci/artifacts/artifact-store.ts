import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { digestFile } from '../../files/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import { ignoreUnavailable } from '../ignore-unavailable.ts';
import type { ByteRange, ObjectStore } from '../../objects/index.ts';

/** What a client sends: a block that it orders later, an appended part, or the whole content at once. */
export type Part = { kind: 'block'; blockId: string } | { kind: 'more' } | { kind: 'whole' };

/** Called before bytes are written; throws when that many more are not allowed. */
export type Allowance = (moreBytes: number) => void;

interface Measured {
  bytes: number;
  /** SHA-256 in hex. */
  digest: string;
}

const maxBlocks = 50_000;
const whole = 'whole';
const copyAtOnce = 1024 * 1024;

/**
 * Artifacts as objects. What is still coming is below one folder: archives in a separate folder that backups skip,
 * files of the older protocol at their place. What is complete is taken by the store of objects.
 */
export class ArtifactStore {
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #uploading = new Map<number, Staged>();

  constructor(folder: string, objects: ObjectStore) {
    this.#folder = folder;
    this.#objects = objects;
  }

  /** At start: reads the sizes of unfinished uploads. */
  async recover(): Promise<void> {
    for (const name of await readdir(this.#uploads).catch(() => [])) {
      const staged = new Staged();
      for (const part of await readdir(path.join(this.#uploads, name)))
        staged.set(part, (await stat(path.join(this.#uploads, name, part))).size);
      this.#uploading.set(Number(name), staged);
    }
  }

  /** Bytes received for an artifact that is not finished yet. */
  staged(id: number): number {
    return this.#uploading.get(id)?.total ?? 0;
  }

  /** Stores one part. A repeated block replaces the first. Refuses `too_many_blocks`. */
  async receive(id: number, part: Part, body: AsyncIterable<Buffer>, allow: Allowance): Promise<void> {
    const staged = this.#uploading.get(id) ?? new Staged();
    this.#uploading.set(id, staged);
    const name = part.kind === 'block' ? blockName(part.blockId) : whole;
    if (staged.parts >= maxBlocks) throw conflict('too_many_blocks', `An artifact has at most ${maxBlocks} blocks.`);
    await mkdir(this.#uploadOf(id), { recursive: true, mode: 0o700 });
    const file = path.join(this.#uploadOf(id), name);
    const before = part.kind === 'more' ? staged.of(name) : 0;
    staged.set(name, before);
    const handle = await open(file, part.kind === 'more' ? 'a' : 'w', 0o600);
    try {
      for await (const bytes of body) {
        allow(bytes.length);
        await handle.writeFile(bytes);
        staged.set(name, staged.of(name) + bytes.length);
      }
    } catch (error) {
      // An incomplete part is removed; what was there before stays.
      await handle.truncate(before);
      staged.set(name, before);
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** Concatenates blocks in the given order. Refuses `missing_block` when one of them was never received. */
  async assemble(id: number, blockIds: readonly string[]): Promise<void> {
    const staged = this.#uploading.get(id);
    const names = blockIds.map(blockName);
    if (staged === undefined || names.length > maxBlocks || names.some((name) => !staged.has(name)))
      throw conflict('missing_block', 'The list names a block that was not uploaded.');
    const target = await open(path.join(this.#uploadOf(id), whole), 'w', 0o600);
    try {
      for (const name of names) {
        for await (const bytes of createReadStream(path.join(this.#uploadOf(id), name), { highWaterMark: copyAtOnce }))
          await target.writeFile(bytes as Buffer);
      }
    } finally {
      await target.close();
    }
    const bytes = (await stat(path.join(this.#uploadOf(id), whole))).size;
    for (const name of staged.clear())
      if (name !== whole) await rm(path.join(this.#uploadOf(id), name), { force: true });
    staged.set(whole, bytes);
  }

  /** Size and hash of the upload; null when nothing was uploaded. */
  async measure(id: number): Promise<Measured | null> {
    if (!this.#uploading.get(id)?.has(whole)) return null;
    return measureFile(path.join(this.#uploadOf(id), whole));
  }

  /** Gives a complete upload to the store of objects; durable when this resolves. */
  async publish(id: number, file: string, measured: Measured): Promise<void> {
    const { bytes, digest } = measured;
    await this.#objects.adopt(artifactKey(file), path.join(this.#uploadOf(id), whole), { bytes, sha256: digest });
    await this.abandon(id);
  }

  /** Removes an upload. */
  async abandon(id: number): Promise<void> {
    this.#uploading.delete(id);
    await rm(this.#uploadOf(id), { recursive: true, force: true });
  }

  /** A file, or the bytes of a range. Refuses `artifact_not_found` when the file is gone. */
  async read(file: string, range?: ByteRange): Promise<Readable> {
    const opened = await this.#objects.get(artifactKey(file), range);
    if (opened === null) throw notFound('artifact_not_found', 'There is no such artifact.');
    return opened.stream;
  }

  /** Writes a part of an artifact file at its position; durable when this resolves. */
  async write(file: string, at: number, body: AsyncIterable<Buffer>, maxBytes: number): Promise<number> {
    const target = path.join(this.#folder, file);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    const handle = await open(target, at === 0 ? 'w' : 'r+', 0o600);
    let written = 0;
    try {
      for await (const bytes of body) {
        if (written + bytes.length > maxBytes) throw conflict('artifact_too_large', 'This is more than was announced.');
        for (let done = 0; done < bytes.length; )
          done += (await handle.write(bytes, done, bytes.length - done, at + written + done)).bytesWritten;
        written += bytes.length;
      }
      await handle.datasync();
    } finally {
      await handle.close();
    }
    return written;
  }

  /** Gives a file that `write` has completed to the store of objects, unless that has it where it is. */
  async complete(file: string): Promise<void> {
    if (this.#objects.place === 'folder') return;
    const source = path.join(this.#folder, file);
    const { bytes, digest } = await measureFile(source);
    await this.#objects.adopt(artifactKey(file), source, { bytes, sha256: digest });
  }

  /** Removes an artifact's file or folder. What a store does not remove now is removed by the nightly task. */
  async remove(file: string): Promise<void> {
    await rm(path.join(this.#folder, file), { recursive: true, force: true });
    if (this.#objects.place === 's3') await this.#removeObjects(file).catch(ignoreUnavailable);
  }

  async #removeObjects(file: string): Promise<void> {
    const key = artifactKey(file);
    const isOne = file.endsWith('.zip') || file.split('/').length > 2;
    if (isOne) return this.#objects.remove(key);
    for await (const { key: one } of this.#objects.list(`${key}/`)) await this.#objects.remove(one);
  }

  /** All stored files, by the names that rows use. */
  async *files(): AsyncGenerator<string> {
    const found = new Set<string>();
    for (const shard of await readdir(this.#folder).catch(() => [])) {
      if (!/^\d+$/.test(shard)) continue;
      for (const name of await readdir(path.join(this.#folder, shard))) found.add(`${shard}/${name}`);
    }
    yield* found;
    if (this.#objects.place === 'folder') return;
    for await (const { key } of this.#objects.list(artifactPrefix)) {
      const file = key.slice(artifactPrefix.length).split('/').slice(0, 2).join('/');
      if (!found.has(file)) yield file;
      found.add(file);
    }
  }

  /** Ids of artifacts with an unfinished upload. */
  uploads(): number[] {
    return [...this.#uploading.keys()];
  }

  /** The name begins with a dot, so backups skip the folder. */
  get #uploads(): string {
    return path.join(this.#folder, '.uploading');
  }

  #uploadOf(id: number): string {
    return path.join(this.#uploads, String(id));
  }
}

async function measureFile(file: string): Promise<Measured> {
  const { bytes, sha256: digest } = await digestFile(file);
  return { bytes, digest };
}

/** The received parts of an upload. */
class Staged {
  readonly #sizes = new Map<string, number>();
  total = 0;

  get parts(): number {
    return this.#sizes.size;
  }

  has(part: string): boolean {
    return this.#sizes.has(part);
  }

  of(part: string): number {
    return this.#sizes.get(part) ?? 0;
  }

  set(part: string, bytes: number): void {
    this.total += bytes - this.of(part);
    this.#sizes.set(part, bytes);
  }

  /** Removes all parts; returns their files. */
  clear(): string[] {
    const parts = [...this.#sizes.keys()];
    this.#sizes.clear();
    this.total = 0;
    return parts;
  }
}

/** Block ids come from the client, so the file name is their hash. */
const blockName = (blockId: string): string => createHash('sha256').update(blockId).digest('hex').slice(0, 40);

export const artifactPrefix = 'artifacts/';
export const artifactKey = (file: string): string => artifactPrefix + file;

/** Path of an artifact below the folder of artifacts; a thousand share a folder. */
export const placeOf = (id: number, form: 'zip' | 'files'): string =>
  `${Math.floor(id / 1000)}/${id}${form === 'zip' ? '.zip' : ''}`;
