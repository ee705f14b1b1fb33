import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import { createForm, discardBody, HttpError, readMultipart } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Middleware, ReceivedContent } from './context.ts';

/** Maximum number of files in one form; the maximum total size is a setting. */
const maxFiles = 100;
const maxFields = 20;
/** The commit message and the other fields of the form; a route may set another limit. */
const usualFieldBytes = 128 * 1024;

/** The form field of files. */
const fileField = 'files';

/**
 * Reads a form with files for a repository, which are held in memory: they become one commit. It runs after access was
 * decided (security B05). Errors in the files are passed to the page: `too_many_files`.
 */
export function readCommitUploadForm(
  { repositories }: Pick<WebDeps, 'repositories'>,
  maxFieldBytes = usualFieldBytes,
): Middleware {
  return async (ctx, next) => {
    if (!ctx.is('multipart/form-data'))
      throw new HttpError(415, 'Forms with files must be sent as multipart/form-data.');
    // Bodies from anonymous clients are not read.
    if (ctx.state.identity.person === null) throw unauthenticated('sign_in', 'Sign in first.');
    try {
      const files: ReceivedContent[] = [];
      const fileBytes = repositories.contents.maxBytes / maxFiles;
      // The sum of the limits bounds the body, and so the memory.
      const limits = { files: maxFiles, fileBytes, fields: maxFields, fieldBytes: maxFieldBytes };
      const { fields, failure } = await readMultipart(ctx.req, limits, async ({ field, fileName, content }) => {
        const chunks: Buffer[] = [];
        for await (const chunk of content) chunks.push(chunk as Buffer);
        if (field === fileField) files.push({ name: fileName, content: Buffer.concat(chunks) });
      });
      if (failure !== null && !isDomainError(failure)) throw failure;
      ctx.state.form = createForm(fields);
      ctx.state.takeContents = () => {
        if (failure !== null) throw failure;
        return files;
      };
      await next();
    } finally {
      discardBody(ctx.req);
    }
  };
}
