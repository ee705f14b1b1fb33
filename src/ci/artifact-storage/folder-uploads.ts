import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { EntityManager } from 'typeorm';
import { digestFile } from '../../files/index.ts';
import { blockName, maxBlocks, missingBlock, tooManyBlocks } from './uploads.ts';
import type { AllowanceBy, GatheredUpload, Part, Uploads } from './uploads.ts';

const whole = 'whole';
const copyAtOnce = 1024 * 1024;

/** Uploads in a folder, for a server that receives all parts itself. */
export class FolderUploads implements Uploads {
  readonly #folder: string;
  readonly #read: EntityManager;
  readonly #uploading = new Map<number, Staged>();

  constructor(folder: string, read: EntityManager) {
    this.#folder = folder;
    this.#read = read;
  }

  async recover(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const staged = new Staged();
      for (const part of await readdir(path.join(this.#folder, name)))
        staged.set(part, (await stat(path.join(this.#folder, name, part))).size);
      this.#uploading.set(Number(name), staged);
    }
  }

  async staged(): Promise<(id: number) => number> {
    return (id) => this.#uploading.get(id)?.total ?? 0;
  }

  async receive(id: number, part: Part, body: AsyncIterable<Buffer>, allowance: AllowanceBy): Promise<void> {
    const allow = await allowance(this.#read);
    const staged = this.#uploading.get(id) ?? new Staged();
    this.#uploading.set(id, staged);
    const name = part.kind === 'block' ? blockName(part.blockId) : whole;
    if (staged.parts >= maxBlocks) throw tooManyBlocks();
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
      // Removes the incomplete part and keeps the bytes before it.
      await handle.truncate(before);
      staged.set(name, before);
      throw error;
    } finally {
      await handle.close();
    }
  }

  async assemble(id: number, blockIds: readonly string[]): Promise<void> {
    const staged = this.#uploading.get(id);
    const names = blockIds.map(blockName);
    if (staged === undefined || names.length > maxBlocks || names.some((name) => !staged.has(name)))
      throw missingBlock();
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

  async gather(id: number): Promise<GatheredUpload | null> {
    if (!this.#uploading.get(id)?.has(whole)) return null;
    const file = path.join(this.#uploadOf(id), whole);
    const { bytes, sha256: digest } = await digestFile(file);
    return { file, bytes, digest };
  }

  /** Nothing to remove: the gathered file is the upload itself. */
  async discard(): Promise<void> {}

  async abandon(id: number): Promise<void> {
    this.#uploading.delete(id);
    await rm(this.#uploadOf(id), { recursive: true, force: true });
  }

  async ids(): Promise<number[]> {
    return [...this.#uploading.keys()];
  }

  #uploadOf(id: number): string {
    return path.join(this.#folder, String(id));
  }
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

  /** Forgets all parts. Returns the names of their files. */
  clear(): string[] {
    const parts = [...this.#sizes.keys()];
    this.#sizes.clear();
    this.total = 0;
    return parts;
  }
}
