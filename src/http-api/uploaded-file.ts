import { invalid } from '../kernel/index.ts';
import type { Context, ReceivedPart } from '../http/index.ts';
import { readMultipart } from '../http/index.ts';

/** The form field of the file, as Gitea calls it. */
const fileField = 'attachment';

/** The file of a call: it is read when the operation asks for it, and never held as a whole. */
export interface UploadedFile {
  /**
   * Gives the file to its reader while it comes. Refuses `file_missing`, and what the reader refuses.
   * @param maxBytes of the file
   */
  receive<Result>(maxBytes: number, onFile: (file: ReceivedPart) => Promise<Result>): Promise<Result>;
}

export const uploadedFile = (ctx: Context): UploadedFile => ({
  async receive<Result>(maxBytes: number, onFile: (file: ReceivedPart) => Promise<Result>): Promise<Result> {
    const results: Result[] = [];
    const limits = { files: 1, fileBytes: maxBytes, fields: 8, fieldBytes: 8 * 1024 };
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
