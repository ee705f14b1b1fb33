import { invalid } from '../kernel/index.ts';
import type { Context, ReceivedPart } from '../http/index.ts';
import { HttpError, openBody, readMultipart } from '../http/index.ts';

/** The form field of the file, named as in Gitea. */
const fileField = 'attachment';

interface UploadOptions {
  /** Size limit of the file. */
  maxBytes: number;
  /** Time limit for the whole body, if the usual one is too short for such files. */
  deadlineMs?: number;
  /** Whether the body may be the file itself, as application/octet-stream; its name is then empty. */
  takesRaw?: boolean;
}

/** The file of a call: it is read when the operation requests it, and never held in memory as a whole. */
export interface UploadedFile {
  /** Streams the file to its reader. Throws `file_missing`, and what the reader refuses. */
  receive<Result>(options: UploadOptions, onFile: (file: ReceivedPart) => Promise<Result>): Promise<Result>;
}

export const uploadedFile = (ctx: Context): UploadedFile => ({
  async receive<Result>(options: UploadOptions, onFile: (file: ReceivedPart) => Promise<Result>): Promise<Result> {
    if (options.takesRaw === true && ctx.is('application/octet-stream')) return receiveRaw(ctx, options, onFile);
    const { maxBytes, deadlineMs } = options;
    const results: Result[] = [];
    const limits = {
      files: 1,
      fileBytes: maxBytes,
      fields: 8,
      fieldBytes: 8 * 1024,
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    };
    const { failure } = await readMultipart(ctx.req, limits, async (part) => {
      if (part.field === fileField) results.push(await onFile(part));
      else part.content.resume();
    });
    if (failure !== null) throw failure;
    if (results.length === 0)
      throw invalid('file_missing', `Send the file in the field ${fileField}.`, { field: fileField });
    return results[0]!;
  },
});

async function receiveRaw<Result>(
  ctx: Context,
  { maxBytes, deadlineMs }: UploadOptions,
  onFile: (file: ReceivedPart) => Promise<Result>,
): Promise<Result> {
  if (ctx.get('Content-Encoding') !== '') throw new HttpError(415, 'Files are sent without a Content-Encoding.');
  const content = openBody(ctx.req, {
    maxBytes,
    tooLarge: () => new HttpError(413, 'This file is too large.'),
    broken: () => new HttpError(400, 'This file was cut off.'),
    isSeparate: true,
  });
  const deadline = setTimeout(() => ctx.req.destroy(), deadlineMs ?? 180_000);
  try {
    return await onFile({ field: fileField, fileName: '', content });
  } finally {
    clearTimeout(deadline);
    content.destroy();
  }
}
