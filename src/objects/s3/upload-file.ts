import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { eachLimit, isDomainError } from '../../kernel/index.ts';
import type { StoredObject } from '../object-store.ts';
import { element, escapeXml } from './parse-response.ts';
import type { S3Client } from './s3-client.ts';
import { S3Failure } from './s3-failure.ts';

const readAtOnce = 256 * 1024;
/** Concurrent parts of one object; each part is read once for its digest and once for sending. */
const partsAtOnce = 4;
/** The protocol's limit. */
const maxParts = 10_000;

export type Uploaded = 'stored' | 'exists' | 'unconditional';

/** A local file, and the object to create from it. */
export interface Upload {
  name: string;
  file: string;
  content: StoredObject;
  /** Metadata stored with the object. */
  metadata: Readonly<Record<string, string>>;
  /** Size in bytes above which objects are uploaded in parts of this size. */
  partBytes: number;
  /** Whether to ask the store to refuse an existing object. */
  isConditional: boolean;
}

/**
 * Uploads a file as one object, in parts if it is large. Every request contains the digest of its content, which the
 * store verifies. Returns `exists` if the store refused to replace an object, which may be this one after a lost
 * response, and `unconditional` if it does not support the condition; then nothing is stored. Throws
 * `object_store_unavailable`; then no part is left in the store, unless it does not respond.
 */
export function uploadFile(client: S3Client, upload: Upload): Promise<Uploaded> {
  return upload.content.bytes <= upload.partBytes ? uploadWhole(client, upload) : uploadParts(client, upload);
}

const condition = ({ isConditional }: Upload): Record<string, string> =>
  isConditional ? { 'if-none-match': '*' } : {};

const describe = ({ metadata }: Upload): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
});

async function uploadWhole(client: S3Client, upload: Upload): Promise<Uploaded> {
  const { name, file, content } = upload;
  const { status } = await client.send({
    verb: 'put',
    method: 'PUT',
    name,
    headers: { ...describe(upload), ...condition(upload) },
    body: { ...content, open: () => createReadStream(file, { highWaterMark: readAtOnce }) },
    understood: [409, 412, ...(upload.isConditional ? [501] : [])],
  });
  if (status === 501) return 'unconditional';
  return status === 412 || status === 409 ? 'exists' : 'stored';
}

async function uploadParts(client: S3Client, upload: Upload): Promise<Uploaded> {
  const { name, file, content } = upload;
  const partBytes = Math.max(upload.partBytes, Math.ceil(content.bytes / maxParts));
  const count = Math.ceil(content.bytes / partBytes);
  return inParts(client, upload, count, async (number, uploadId) => {
    const start = (number - 1) * partBytes;
    const bytes = Math.min(partBytes, content.bytes - start);
    const open = () => createReadStream(file, { start, end: start + bytes - 1, highWaterMark: readAtOnce });
    const hash = createHash('sha256');
    for await (const chunk of open()) hash.update(chunk as Buffer);
    const { headers } = await client.send({
      verb: 'put_part',
      method: 'PUT',
      name,
      query: { partNumber: String(number), uploadId },
      body: { bytes, sha256: hash.digest('hex'), open },
    });
    return String(headers.etag);
  });
}

/** 5 GiB is the protocol's limit for one part. */
const copiedAtOnce = 1024 ** 3;

/** Copies an object above the size limit of a single copy request, within the store. */
export async function copyParts(client: S3Client, upload: Upload, source: string): Promise<Uploaded> {
  const { bytes } = upload.content;
  return inParts(client, upload, Math.ceil(bytes / copiedAtOnce), async (number, uploadId) => {
    const start = (number - 1) * copiedAtOnce;
    const { text } = await client.send({
      verb: 'copy',
      method: 'PUT',
      name: upload.name,
      query: { partNumber: String(number), uploadId },
      headers: {
        'x-amz-copy-source': source,
        'x-amz-copy-source-range': `bytes=${start}-${Math.min(start + copiedAtOnce, bytes) - 1}`,
      },
    });
    return element(text, 'ETag') ?? '';
  });
}

async function inParts(
  client: S3Client,
  upload: Upload,
  count: number,
  sendPart: (number: number, uploadId: string) => Promise<string>,
): Promise<Uploaded> {
  const { name } = upload;
  const begun = await client.send({
    verb: 'begin_parts',
    method: 'POST',
    name,
    query: { uploads: '' },
    headers: describe(upload),
  });
  const uploadId = element(begun.text, 'UploadId') ?? '';
  try {
    const tags: string[] = [];
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    await eachLimit(numbers, partsAtOnce, async (number) => {
      tags[number - 1] = await sendPart(number, uploadId);
    });
    const parts = tags.map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
    );
    const list = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const { status } = await client.send({
      verb: 'end_parts',
      method: 'POST',
      name,
      query: { uploadId },
      headers: { 'content-type': 'application/xml', ...condition(upload) },
      body: bodyOf(list),
      // After a lost response the parts no longer exist: the object shows whether it is this one.
      understood: [404, 409, 412, ...(upload.isConditional ? [501] : [])],
    });
    if (status === 200) return 'stored';
    if (status !== 404) await abort(client, name, uploadId);
    return status === 501 ? 'unconditional' : 'exists';
  } catch (error) {
    await abort(client, name, uploadId);
    throw error;
  }
}

/** Removes the parts of an upload; the next start removes remaining ones a day later. */
export async function abort(client: S3Client, name: string, uploadId: string): Promise<void> {
  const request = { verb: 'abort_parts', method: 'DELETE', name, query: { uploadId }, understood: [404] } as const;
  await client.send(request).catch(ignoreUnavailable);
}

/** For a `catch` that ignores an unavailable store. */
export function ignoreUnavailable(error: unknown): null {
  if (isDomainError(error) && error.cause instanceof S3Failure) return null;
  throw error;
}

function bodyOf(content: Buffer): { bytes: number; sha256: string; open: () => Readable } {
  return {
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    open: () => Readable.from([content], { objectMode: false }),
  };
}
