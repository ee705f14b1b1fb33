import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import type { Readable } from 'node:stream';
import { imageTooLarge, maxImageBytes, type ImageUpload } from '../../images/index.ts';
import { invalid, isDomainError } from '../../kernel/index.ts';
import type { Middleware } from './context.ts';
import { discardBody, openBody, HttpError } from '../../http/index.ts';

/** Allowance besides the file: boundaries, headers and the few fields that a form may have (security B05). */
const maxFields = 8;
const maxFieldBytes = 8 * 1024;
const maxBodyBytes = maxImageBytes + (maxFields + 1) * maxFieldBytes;
const deadlineMs = 60_000;

interface ReceivedFile {
  field: string;
  declaredType: string;
  chunks: Buffer[];
}

/**
 * Reads a form with one file. It runs after access was decided, so no client can make the server read a body that it
 * will refuse (security B05).
 *
 * Files are held in memory: they are small and few at a time (`request-classes.ts`), and nothing is left on disk.
 * Upload errors are passed to the page, whose form has messages for them.
 *
 * @param field the form field of the file
 */
export function readUpload(field: string): Middleware {
  return async (ctx, next) => {
    if (ctx.get('Content-Encoding') !== '') throw new HttpError(415, 'Forms must be sent without a Content-Encoding.');
    const outcome = await receiveFile(ctx.req, field).catch((error: unknown) => {
      if (!isDomainError(error)) throw error;
      return error;
    });
    ctx.state.takeUpload = () => {
      if (isDomainError(outcome)) throw outcome;
      return outcome;
    };
    try {
      await next();
    } finally {
      discardBody(ctx.req);
    }
  };
}

/**
 * Throws `image_missing` (no file, or under another name), `too_many_files`, `image_too_large` as soon as the limit is
 * exceeded, `upload_unreadable`.
 */
async function receiveFile(request: IncomingMessage, field: string): Promise<ImageUpload> {
  if (!/^multipart\/form-data\s*;/i.test(request.headers['content-type'] ?? '')) throw missing(field);
  const files = await parseForm(request, field);
  const [file] = files;
  if (file === undefined || file.field !== field) throw missing(field);
  return { declaredType: file.declaredType, bytes: Buffer.concat(file.chunks) };
}

async function parseForm(request: IncomingMessage, field: string): Promise<ReceivedFile[]> {
  const { default: formidable } = await import('formidable');
  const files: ReceivedFile[] = [];
  const form = formidable({
    maxFiles: 1,
    maxFileSize: maxImageBytes,
    maxFields,
    maxFieldsSize: maxFields * maxFieldBytes,
    allowEmptyFiles: true,
    minFileSize: 0,
    // The library would write to a folder; this holds the bytes of the most recent file in memory.
    fileWriteStreamHandler: () => collectInto(files.at(-1)?.chunks ?? []),
  });
  form.on(
    'fileBegin',
    (name, { mimetype }) => void files.push({ field: name, declaredType: mimetype ?? '', chunks: [] }),
  );
  const bounded = boundedBody(request, field);
  const deadline = setTimeout(() => request.destroy(), deadlineMs);
  try {
    await form.parse(bounded as unknown as IncomingMessage);
    return files;
  } catch (error) {
    throw translate(error, field);
  } finally {
    clearTimeout(deadline);
    bounded.destroy();
  }
}

/**
 * The body for the library, cut off beyond the size of any valid form: also without a length, also within headers of
 * parts.
 */
const boundedBody = (request: IncomingMessage, field: string): Readable & Pick<IncomingMessage, 'headers'> =>
  Object.assign(
    openBody(request, {
      maxBytes: maxBodyBytes,
      tooLarge: () => imageTooLarge(field),
      broken: (cause) => unreadable(field, cause),
      isSeparate: true,
    }),
    { headers: request.headers },
  );

const collectInto = (chunks: Buffer[]): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });

const missing = (field: string) => invalid('image_missing', 'Choose an image file.', { field });
const unreadable = (field: string, cause?: unknown) =>
  invalid('upload_unreadable', 'This upload could not be read. Nothing was changed.', { field, cause });

/** The library's error codes for exceeded limits. */
const libraryCodes = { fileTooLarge: 1016, filesTooLarge: 1009, tooManyFiles: 1015 };

function translate(error: unknown, field: string): unknown {
  if (isDomainError(error)) return error;
  const { code } = error as { code?: unknown };
  if (code === libraryCodes.fileTooLarge || code === libraryCodes.filesTooLarge) return imageTooLarge(field);
  if (code === libraryCodes.tooManyFiles) return invalid('too_many_files', 'Send a single image.', { field });
  return unreadable(field, error);
}
