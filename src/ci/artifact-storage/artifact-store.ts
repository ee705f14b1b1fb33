import { mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { digestFile } from '../../files/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import { ignoreUnavailable } from '../ignore-unavailable.ts';
import type { ByteRange, ObjectStore } from '../../objects/index.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { StoredUploads } from './stored-uploads.ts';
import type { StoredUploadsOptions } from './stored-uploads.ts';
import type { GatheredUpload, Uploads } from './uploads.ts';

type SharedUploads = Omit<StoredUploadsOptions, 'folder' | 'objects'>;

/** The artifact that owns a file, and its folder. */
type FileArtifact = Pick<ArtifactRow, 'id' | 'file'>;

/**
 * Stores artifacts as objects. Unfinished archives are in `uploads`. Unfinished files of the older protocol are at
 * their final path or, where several nodes receive them, stored as parts. Complete uploads move to the object store.
 */
export class ArtifactStore {
  readonly #folder: string;
  readonly #objects: ObjectStore;
  readonly #shared: StoredUploads | null;
  readonly uploads: Uploads;

  /**
   * @param shared set where several nodes receive the parts of an upload
   */
  constructor(folder: string, objects: ObjectStore, local: (folder: string) => Uploads, shared: SharedUploads | null) {
    this.#folder = folder;
    this.#objects = objects;
    // Backups skip the folder, because its name begins with a dot.
    const incoming = path.join(folder, '.uploading');
    this.#shared = shared === null ? null : new StoredUploads({ ...shared, objects, folder: incoming });
    this.uploads = this.#shared ?? local(incoming);
  }

  /** Moves a complete upload to the object store; durable when this resolves. */
  async publish(file: string, { file: from, bytes, digest }: GatheredUpload): Promise<void> {
    await this.#objects.adopt(artifactKey(file), from, { bytes, sha256: digest });
  }

  /** Opens a file or a range of it. Throws `artifact_not_found` if the file was removed. */
  async read(file: string, range?: ByteRange): Promise<Readable> {
    const opened = await this.#objects.get(artifactKey(file), range);
    if (opened === null) throw notFound('artifact_not_found', 'There is no such artifact.');
    return opened.stream;
  }

  /** Stores a part of a file of an artifact at a position; durable when this resolves. Returns the number of bytes. */
  async write(
    artifact: FileArtifact,
    name: string,
    at: number,
    body: AsyncIterable<Buffer>,
    maxBytes: number,
  ): Promise<number> {
    if (this.#shared !== null) return this.#shared.receiveFile(artifact.id, name, at, body, maxBytes);
    const target = path.join(this.#folder, artifact.file, name);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    const handle = await open(target, at === 0 ? 'w' : 'r+', 0o600);
    let written = 0;
    try {
      for await (const bytes of body) {
        if (written + bytes.length > maxBytes)
          throw conflict('artifact_too_large', 'The upload is larger than announced.');
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

  /** Moves a file that `write` has completed to the object store, unless it is already there. */
  async complete(artifact: FileArtifact, name: string): Promise<void> {
    const file = `${artifact.file}/${name}`;
    if (this.#shared !== null) {
      const gathered = await this.#shared.gatherFile(artifact.id, name);
      // Another node has finished the same file.
      if (gathered === null) return;
      try {
        await this.publish(file, gathered);
      } finally {
        await this.#shared.discard(gathered);
      }
      return this.#shared.abandonFile(artifact.id, name);
    }
    if (this.#objects.place === 'folder') return;
    const source = path.join(this.#folder, file);
    const { bytes, sha256 } = await digestFile(source);
    await this.#objects.adopt(artifactKey(file), source, { bytes, sha256 });
  }

  /** Removes one file of an artifact. */
  async removeFile(artifact: FileArtifact, name: string): Promise<void> {
    await this.#shared?.abandonFile(artifact.id, name);
    await this.remove(`${artifact.file}/${name}`);
  }

  /** Removes upload parts without a row. Returns their number. */
  async sweep(): Promise<number> {
    return this.#shared?.sweep() ?? 0;
  }

  /** Removes the file or folder of an artifact. The nightly task retries if the store is unavailable. */
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

  /** All stored files, by their names in the database. */
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
}

export const artifactPrefix = 'artifacts/';
export const artifactKey = (file: string): string => artifactPrefix + file;

/** Path of an artifact below the folder of artifacts; a folder holds a thousand. */
export const placeOf = (id: number, form: 'zip' | 'files'): string =>
  `${Math.floor(id / 1000)}/${id}${form === 'zip' ? '.zip' : ''}`;
