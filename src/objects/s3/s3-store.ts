import { rm } from 'node:fs/promises';
import { createKeyedMutex } from '../../kernel/index.ts';
import type { Clock, Logger, Random } from '../../kernel/index.ts';
import type { Incoming } from '../incoming.ts';
import { checkKey, objectExists } from '../object-key.ts';
import type { ListedObject, ObjectStore, StoredObject } from '../object-store.ts';
import type { StoreMetrics } from '../store-metrics.ts';
import { element, elements } from './parse-response.ts';
import { digestHeader, readObject } from './read-object.ts';
import type { RecentUploads } from './recent-uploads.ts';
import { encodeStrictly } from './sign-request.ts';
import type { S3Client } from './s3-client.ts';
import { abort, copyParts, ignoreUnavailable, uploadFile } from './upload-file.ts';
import type { Upload, Uploaded } from './upload-file.ts';

interface S3StoreOptions {
  client: S3Client;
  bucket: string;
  /** Prefix of every key; empty, or ends with a slash. */
  prefix: string;
  /** Size in bytes above which objects are uploaded in parts of this size. */
  partBytes: number;
  /** Folder of content whose size and digest are not known yet. */
  incoming: Incoming;
  /** Null if no copies are kept. */
  recent: RecentUploads | null;
  metrics: StoreMetrics;
  clock: Clock;
  random: Random;
  logger: Logger;
}

/** The largest object that one request can copy. */
const maxCopiedBytes = 5 * 1024 ** 3;
/** Age at which an unfinished multipart upload surely belongs to no running process. */
const abandonedMs = 24 * 60 * 60_000;

/**
 * Objects in a bucket of an S3-compatible store. Content is first written to a local file, because size and digest are
 * sent before it; so it can be sent again, and no wrong content is ever stored under a key.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const { client, bucket, prefix, incoming, recent, metrics, random, logger } = options;
  const inTurn = createKeyedMutex();
  /** Not all stores support the condition "only if absent"; once one has refused it, it is no longer sent. */
  let isConditional = true;

  function nameOf(key: string): string {
    checkKey(key);
    return prefix + key;
  }

  async function head(key: string): Promise<{ bytes: number; sha256?: string; upload: string | null } | null> {
    const answer = await client.send({ verb: 'head', method: 'HEAD', name: nameOf(key), understood: [404] });
    if (answer.status === 404) return null;
    const { 'content-length': bytes, [digestHeader]: sha256, 'x-amz-meta-upload': upload } = answer.headers;
    return {
      bytes: Number(bytes),
      ...(typeof sha256 === 'string' ? { sha256 } : {}),
      upload: typeof upload === 'string' ? upload : null,
    };
  }

  /** Throws `object_exists` for an object of another upload. */
  async function create(key: string, content: StoredObject, send: (upload: Upload) => Promise<Uploaded>) {
    const mark = random.bytes(16).toString('hex');
    const upload: Upload = {
      name: nameOf(key),
      file: '',
      content,
      metadata: { sha256: content.sha256, upload: mark },
      partBytes: options.partBytes,
      isConditional,
    };
    let result = await send(upload);
    if (result === 'unconditional') {
      isConditional = false;
      logger.info('objects.unconditional', { bucket });
      result = await send({ ...upload, isConditional });
    }
    if (result === 'exists' && (await head(key))?.upload !== mark) throw objectExists(key);
    metrics.moved('in', content.bytes);
  }

  /** Sends an object again that the store has lost, while its copy exists. Returns whether there was one. */
  const restore = (key: string): Promise<boolean> =>
    inTurn(key, async () => {
      const copy = (await recent?.find(key)) ?? null;
      if (copy === null) return false;
      if ((await head(key)) !== null) return true;
      logger.error('objects.lost_by_store', { key, bytes: copy.stored.bytes });
      await create(key, copy.stored, (upload) => uploadFile(client, { ...upload, file: copy.file }));
      return true;
    });

  /** The result of `read`, retried once if the store had lost the object. */
  async function orRestored<Found>(key: string, read: () => Promise<Found | null>): Promise<Found | null> {
    return (await read()) ?? ((await restore(key)) ? read() : null);
  }

  const store: ObjectStore = {
    place: 's3',

    async put(key, content, limits) {
      checkKey(key);
      const { file, stored } = await incoming.receive(content, limits, false);
      try {
        await inTurn(key, async () => {
          if ((await head(key)) !== null) throw objectExists(key);
          await create(key, stored, (upload) => uploadFile(client, { ...upload, file }));
          await recent?.keep(key, file);
        });
        return stored;
      } finally {
        await rm(file, { force: true });
      }
    },

    adopt: (key, file, expected) =>
      inTurn(key, async () => {
        const found = await head(key);
        // The same content: its row was not written, because the server was killed or the response was lost.
        const isThere = found !== null && found.sha256 === expected.sha256 && found.bytes === expected.bytes;
        if (found !== null && !isThere) throw objectExists(key);
        if (!isThere) await create(key, expected, (upload) => uploadFile(client, { ...upload, file }));
        await recent?.keep(key, file);
        await rm(file, { force: true });
      }),

    get: (key, range) => orRestored(key, () => readObject({ client, metrics, logger }, nameOf(key), range)),

    async stat(key) {
      const found = await orRestored(key, () => head(key));
      return found === null
        ? null
        : { bytes: found.bytes, ...(found.sha256 === undefined ? {} : { sha256: found.sha256 }) };
    },

    async remove(key) {
      await recent?.drop(key);
      await client.send({ verb: 'remove', method: 'DELETE', name: nameOf(key), understood: [404] });
    },

    link: (from, to) =>
      inTurn(to, async () => {
        const found = await orRestored(from, () => head(from));
        if (found === null) return false;
        if ((await head(to)) !== null) throw objectExists(to);
        const source = `/${bucket}/${nameOf(from)}`.split('/').map(encodeStrictly).join('/');
        if (found.bytes > maxCopiedBytes)
          await create(to, { bytes: found.bytes, sha256: found.sha256 ?? '' }, (upload) =>
            copyParts(client, upload, source),
          );
        else
          await client.send({
            verb: 'copy',
            method: 'PUT',
            name: nameOf(to),
            headers: { 'x-amz-copy-source': source },
          });
        return true;
      }),

    list: (below) => listNames(client, prefix, below),

    async sweep() {
      await recent?.sweep();
      const files = await incoming.sweep();
      // An unavailable store must not prevent the server from starting.
      abortOldUploads(options).catch((error: unknown) => {
        if (ignoreUnavailable(error) === null) logger.warn('objects.unswept', {});
      });
      return files;
    },
  };
  return store;
}

/** Pages of a thousand names. */
async function* listNames(client: S3Client, prefix: string, below: string): AsyncGenerator<ListedObject> {
  for (let token: string | null = ''; token !== null; ) {
    const { text } = await client.send({
      verb: 'list',
      method: 'GET',
      name: '',
      query: { 'list-type': '2', prefix: prefix + below, ...(token === '' ? {} : { 'continuation-token': token }) },
    });
    for (const item of elements(text, 'Contents')) {
      const name = element(item, 'Key') ?? '';
      if (!name.startsWith(prefix + below)) continue;
      yield {
        key: name.slice(prefix.length),
        bytes: Number(element(item, 'Size')),
        storedAt: Date.parse(element(item, 'LastModified') ?? '') || 0,
      };
    }
    token = element(text, 'IsTruncated') === 'true' ? element(text, 'NextContinuationToken') : null;
  }
}

/** Removes parts of uploads by killed processes. */
async function abortOldUploads({ client, prefix, clock, logger }: S3StoreOptions): Promise<void> {
  const { text } = await client.send({ verb: 'list_parts', method: 'GET', name: '', query: { uploads: '', prefix } });
  let count = 0;
  for (const item of elements(text, 'Upload')) {
    const [name, uploadId] = [element(item, 'Key') ?? '', element(item, 'UploadId') ?? ''];
    const begunAt = Date.parse(element(item, 'Initiated') ?? '');
    if (!name.startsWith(prefix) || !(begunAt < clock.now() - abandonedMs)) continue;
    await abort(client, name, uploadId);
    count += 1;
  }
  if (count > 0) logger.info('objects.parts_swept', { uploads: count });
}
