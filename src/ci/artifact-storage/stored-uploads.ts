import { createHash } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import type { EntityManager } from 'typeorm';
import { conflict } from '../../kernel/index.ts';
import type { Clock, Random } from '../../kernel/index.ts';
import type { ObjectStore } from '../../objects/index.ts';
import { ignoreUnavailable } from '../ignore-unavailable.ts';
import type { ArtifactPart, ArtifactParts } from './artifact-parts.ts';
import { blockName, maxBlocks, missingBlock, tooManyBlocks } from './uploads.ts';
import type { AllowanceBy, GatheredUpload, Part, Uploads } from './uploads.ts';

const artifactPartPrefix = 'artifact-parts/';
/** Longer than the time between storing an object and its row, including clock differences to the store. */
const unnamedForMs = 24 * 3_600_000;
/** File name of an archive, which has none below its artifact. */
const archive = '';
const placed = '';

export interface StoredUploadsOptions {
  /** Local folder where complete uploads are assembled. */
  folder: string;
  parts: ArtifactParts;
  objects: ObjectStore;
  random: Random;
  clock: Clock;
}

/**
 * Uploads whose parts may arrive at different nodes. Each part is an object and a row that names it; the node that
 * receives the last call assembles them.
 */
export class StoredUploads implements Uploads {
  readonly #options: StoredUploadsOptions;

  constructor(options: StoredUploadsOptions) {
    this.#options = options;
  }

  async recover(): Promise<void> {
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  async staged(manager: EntityManager, ids: readonly number[]): Promise<(id: number) => number> {
    const bytes = await this.#options.parts.bytes(manager, ids);
    return (id) => bytes.get(id) ?? 0;
  }

  async receive(id: number, part: Part, body: AsyncIterable<Buffer>, allowance: AllowanceBy): Promise<void> {
    const { parts } = this.#options;
    const block = part.kind === 'block' ? blockName(part.blockId) : placed;
    const before = await parts.of(parts.read, id, archive, block);
    const replaced = part.kind === 'more' ? 0 : bytesOf(before);
    const allow = await allowance(parts.read);
    const object = await this.#put(id, body, (bytes) => allow(bytes - replaced));
    await this.#name(object, () =>
      parts.change(id, async (manager) => {
        const position = part.kind === 'more' ? bytesOf(await parts.of(manager, id, archive, block)) : 0;
        // Only an empty part can already be at the end.
        const at: [number?] = part.kind === 'more' ? [position] : [];
        const old = await parts.remove(manager, id, archive, block, ...at);
        await parts.add(manager, id, [{ artifactId: id, file: archive, block, position, ...object }]);
        if ((await parts.count(manager, id, archive)) > maxBlocks) throw tooManyBlocks();
        // Also counts bytes that other nodes have received since.
        (await allowance(manager))(0);
        return old;
      }),
    );
  }

  async assemble(id: number, blockIds: readonly string[]): Promise<void> {
    const { parts } = this.#options;
    if (blockIds.length > maxBlocks) throw missingBlock();
    const old = await parts.change(id, async (manager) => {
      const blocks = new Map((await parts.of(manager, id, archive)).map((part) => [part.block, part]));
      blocks.delete(placed);
      let position = 0;
      const ordered: ArtifactPart[] = [];
      for (const name of blockIds.map(blockName)) {
        const part = blocks.get(name);
        if (part === undefined) throw missingBlock();
        // An empty block takes no position of its own.
        if (part.bytes > 0 || ordered.length === 0) ordered.push({ ...part, block: placed, position });
        if (ordered.length > 1 && ordered[0]!.bytes === 0) ordered.shift();
        position += part.bytes;
      }
      const removed = await parts.remove(manager, id, archive);
      await parts.add(manager, id, ordered);
      const named = new Set(ordered.map(({ object }) => object));
      return removed.filter((object) => !named.has(object));
    });
    await this.#removeObjects(old);
  }

  async gather(id: number): Promise<GatheredUpload | null> {
    const { parts } = this.#options;
    return this.#join(await parts.of(parts.read, id, archive, placed));
  }

  async discard({ file }: GatheredUpload): Promise<void> {
    await rm(file, { force: true });
  }

  async abandon(id: number): Promise<void> {
    await this.#removeObjects(await this.#options.parts.removeAll(id));
  }

  ids(): Promise<number[]> {
    return this.#options.parts.ids();
  }

  /**
   * Stores a part of a file of an artifact, replacing an earlier part at the same position. Returns the number of
   * bytes.
   */
  async receiveFile(id: number, file: string, at: number, body: AsyncIterable<Buffer>, maxBytes: number) {
    const { parts } = this.#options;
    const object = await this.#put(id, body, (bytes) => {
      if (bytes > maxBytes) throw conflict('artifact_too_large', 'The upload is larger than announced.');
    });
    await this.#name(object, () =>
      parts.change(id, async (manager) => {
        const old = await parts.remove(manager, id, file, placed, at);
        await parts.add(manager, id, [{ artifactId: id, file, block: placed, position: at, ...object }]);
        return old;
      }),
    );
    return object.bytes;
  }

  async gatherFile(id: number, file: string): Promise<GatheredUpload | null> {
    const { parts } = this.#options;
    return this.#join(await parts.of(parts.read, id, file, placed));
  }

  async abandonFile(id: number, file: string): Promise<void> {
    const { parts } = this.#options;
    await this.#removeObjects(await parts.change(id, (manager) => parts.remove(manager, id, file)));
  }

  /** Removes objects of parts without a row, left by interrupted uploads and deleted runs. Returns their number. */
  async sweep(): Promise<number> {
    const { objects, parts, clock } = this.#options;
    let count = 0;
    for await (const { key, storedAt } of objects.list(artifactPartPrefix)) {
      if (clock.now() - storedAt < unnamedForMs) continue;
      if (await parts.names(Number(key.slice(artifactPartPrefix.length).split('/')[0]), key)) continue;
      await objects.remove(key);
      count += 1;
    }
    return count;
  }

  /**
   * @param allow checks the number of bytes of this part so far
   */
  async #put(id: number, body: AsyncIterable<Buffer>, allow: (bytes: number) => void) {
    const { objects, random } = this.#options;
    const object = `${artifactPartPrefix}${id}/${random.uuid()}`;
    const { bytes } = await objects.put(object, checked(body, allow), {
      maxBytes: Number.MAX_SAFE_INTEGER,
      tooLarge: () => conflict('artifact_too_large', 'The upload is larger than announced.'),
    });
    return { object, bytes };
  }

  /**
   * Writes the row that names an object; deletes the object if that fails, and otherwise the objects that it replaces.
   */
  async #name({ object }: { object: string }, write: () => Promise<string[]>): Promise<void> {
    const old = await write().catch(async (error: unknown) => {
      await this.#removeObjects([object]);
      throw error;
    });
    await this.#removeObjects(old);
  }

  /** The nightly task retries if the store is unavailable. */
  async #removeObjects(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#options.objects.remove(key).catch(ignoreUnavailable);
  }

  /** Joins parts into one file; where they overlap, the earlier one wins. Null if there are no parts, or with a gap. */
  async #join(parts: readonly ArtifactPart[]): Promise<GatheredUpload | null> {
    const { folder, objects, random } = this.#options;
    if (parts.length === 0) return null;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = path.join(folder, random.uuid());
    const hash = createHash('sha256');
    let bytes = 0;
    const handle = await open(file, 'wx', 0o600);
    try {
      for (const { object, position, bytes: own } of parts) {
        if (position > bytes) throw incomplete();
        const skipped = bytes - position;
        if (own <= skipped) continue;
        const opened = await objects.get(object, skipped === 0 ? undefined : { first: skipped, last: own - 1 });
        if (opened === null) throw incomplete();
        for await (const chunk of opened.stream) {
          hash.update(chunk as Buffer);
          await handle.writeFile(chunk as Buffer);
          bytes += (chunk as Buffer).length;
        }
      }
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return { file, bytes, digest: hash.digest('hex') };
  }
}

const incomplete = () => conflict('artifact_incomplete', 'Part of this artifact is missing. Upload it again.');

const bytesOf = (parts: readonly ArtifactPart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);

async function* checked(body: AsyncIterable<Buffer>, allow: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    allow(bytes);
    yield chunk;
  }
}
