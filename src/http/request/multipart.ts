import type { IncomingMessage } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import type { Readable } from 'node:stream';
import { invalid } from '../../kernel/index.ts';
import { HttpError } from '../http-error.ts';
import { openBody } from './body.ts';

/** Sizes in bytes; the size of the whole body is limited by their sum. */
interface MultipartLimits {
  files: number;
  fileBytes: number;
  fields: number;
  /** All fields together. */
  fieldBytes: number;
  /** Time limit for the whole body, if the default of three minutes is too short for such files. */
  deadlineMs?: number;
}

export interface ReceivedPart {
  /** Name of the form field. */
  field: string;
  /** As sent by the browser. */
  fileName: string;
  /** Must be read at once and in full, or destroyed. */
  content: Readable;
}

/** Headers of one part: names, types and the boundary. */
const partOverheadBytes = 4 * 1024;
/** Time for ten files of ten megabytes at 5 Mbit/s. */
const usualDeadlineMs = 180_000;

/**
 * Reads a form with files (RFC 7578): `onFile` gets the files one by one as they arrive, never held as a whole. If
 * `onFile` fails, this and later files are skipped, the fields are still read, and the result contains the error, so
 * that the form can be shown again with its input. A file field without a file is skipped. Throws 413 above the limits,
 * 415 for another type, 400 if the form is malformed.
 */
export async function readMultipart(
  request: IncomingMessage,
  limits: MultipartLimits,
  onFile: (part: ReceivedPart) => Promise<void>,
): Promise<{ fields: Record<string, string[]>; failure: unknown }> {
  if (!/^multipart\/form-data\s*;/i.test(request.headers['content-type'] ?? ''))
    throw new HttpError(415, 'Forms with files must be sent as multipart/form-data.');
  if (request.headers['content-encoding'] !== undefined)
    throw new HttpError(415, 'Forms must be sent without a Content-Encoding.');
  const { default: formidable } = await import('formidable');
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  const receiver = new FileReceiver(limits.files, onFile);
  const form = formidable({
    // The receiver counts: a form with too many files is shown again with its input.
    maxFiles: Infinity,
    maxFileSize: Infinity,
    maxTotalFileSize: Infinity,
    maxFields: limits.fields,
    maxFieldsSize: limits.fieldBytes,
    allowEmptyFiles: true,
    minFileSize: 0,
    fileWriteStreamHandler: () => receiver.open(),
  });
  // A part with a file name is a file, even without a type, which some package managers omit.
  form.onPart = (part) => {
    if (part.originalFilename !== null) part.mimetype ??= 'application/octet-stream';
    // The parser's name for it.
    return (form as unknown as { _handlePart(one: typeof part): Promise<void> })._handlePart(part);
  };
  form.on('fileBegin', (field, { originalFilename }) => receiver.begin(field, originalFilename ?? ''));
  form.on('field', (name, value) => void (fields[name] ??= []).push(String(value)));
  const tooLarge = () => new HttpError(413, 'This form is too large.');
  const maxBytes = limits.files * (limits.fileBytes + partOverheadBytes) + limits.fieldBytes * 2;
  const body = openBody(request, { maxBytes, tooLarge, isSeparate: true });
  const deadline = setTimeout(() => request.destroy(), limits.deadlineMs ?? usualDeadlineMs);
  try {
    await form.parse(Object.assign(body, { headers: request.headers }) as unknown as IncomingMessage);
    await receiver.ended();
    return { fields, failure: receiver.failure };
  } catch (error) {
    if (error instanceof HttpError) throw error;
    const isTooLarge = (error as { httpCode?: unknown }).httpCode === 413;
    throw isTooLarge ? tooLarge() : new HttpError(400, 'This form could not be read.');
  } finally {
    clearTimeout(deadline);
    receiver.abort();
    body.destroy();
  }
}

/** Passes the files of a form to their reader, one by one. */
class FileReceiver {
  failure: unknown = null;
  readonly #maxFiles: number;
  readonly #onFile: (part: ReceivedPart) => Promise<void>;
  readonly #reading: Promise<void>[] = [];
  #open: PassThrough | null = null;
  #next = { field: '', fileName: '' };

  constructor(maxFiles: number, onFile: (part: ReceivedPart) => Promise<void>) {
    this.#maxFiles = maxFiles;
    this.#onFile = onFile;
  }

  begin(field: string, fileName: string): void {
    this.#next = { field, fileName };
  }

  /** The parser waits until each chunk is read, so a slow reader slows the client down. */
  open(): Writable {
    const part = this.#next;
    const content = new PassThrough();
    content.on('error', () => {});
    let reading: Promise<void> | null = null;
    const start = (): void => {
      if (this.#reading.length === this.#maxFiles) {
        this.failure = invalid('too_many_files', `Send at most ${this.#maxFiles} files at a time.`, { field: 'files' });
        return;
      }
      this.#open = content;
      reading = this.#onFile({ ...part, content }).catch((error: unknown) => {
        this.failure ??= error;
        content.destroy();
      });
      this.#reading.push(reading);
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (reading === null && this.failure === null) start();
        if (reading === null || content.destroyed || content.write(chunk)) return done();
        const go = (): void => {
          content.off('drain', go).off('close', go);
          done();
        };
        content.on('drain', go).on('close', go);
      },
      final: (done) => {
        // A file field without a file has neither name nor content.
        if (reading === null && this.failure === null && part.fileName !== '') start();
        content.end();
        void (reading ?? Promise.resolve()).then(() => done());
      },
    });
  }

  async ended(): Promise<void> {
    await Promise.all(this.#reading);
  }

  /** The client has disconnected, or the form was refused: the reader must not wait for the rest. */
  abort(): void {
    this.#open?.destroy(new HttpError(400, 'This form is incomplete.'));
  }
}
