import { notFound } from '../../kernel/index.ts';
import type { LfsObjectRow } from '../../lfs/index.ts';
import { rangeReply } from '../app/range-reply.ts';
import { content, type Reply } from '../app/reply.ts';
import { splitPath } from '../app/code-urls.ts';
import { formatContentDisposition } from '../app/content-disposition.ts';
import { imageType, isActive, isPdf } from './media-types.ts';
import { charsetOf } from '../app/decode-text.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { resolveLocation } from './resolve-location.ts';
import type { CodeDeps } from './deps.ts';

/** Files up to this size are read into memory; larger ones are streamed from a git process. */
const maxBufferedBytes = 2 * 1024 * 1024;

/**
 * `B/raw/{ref}/{path}`: the content of a file. Text is `text/plain` whatever its extension; images and PDF have their
 * type; types that a browser would run are sent as attachments. A Git LFS pointer returns the content of its object.
 * Every response has a sandbox CSP (security C03).
 */
export const showRaw: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { git } = deps;
  const { found, query } = context;
  const at = await resolveLocation(context, deps);
  const entry = await git.objects.entryAt(found.path, at.oid, at.file);
  if (entry.type !== 'blob') throw notFound();
  const { content: buffered } = await git.objects.blob(found.path, entry.oid, { maxBytes: maxBufferedBytes });
  const object = buffered === null ? null : await deps.lfs.ofPointer(found.repository.id, buffered);
  const name = splitPath(at.file).name;
  if (object !== null) return sendObject(context, deps, object, { name, entryName: entry.name });
  // The type of a streamed file comes from its name; otherwise it is binary.
  const charset = buffered === null ? null : charsetOf(buffered, true);
  const isDownload = query.get('download') === '1' || isActive(entry.name);
  const type =
    shownType(entry.name) ?? (charset === null ? 'application/octet-stream' : `text/plain; charset=${charset}`);
  return content(type, buffered ?? (await git.queries.streamBlob(found.path, entry.oid)), {
    headers: headersOf(entry.oid, formatContentDisposition(isDownload ? 'attachment' : 'inline', name), type),
  });
};

/** Types that browsers display: images, and PDF in their own viewer, which is isolated from pages. */
const shownType = (name: string): string | null => imageType(name) ?? (isPdf(name) ? pdfType : null);

const pdfType = 'application/pdf';
const sandbox = "default-src 'none'; sandbox";

const headersOf = (tag: string, contentDisposition: string, type: string) => ({
  ETag: `"${tag}"`,
  // Access can change at any time, so each request revalidates; the ETag saves the transfer.
  'Cache-Control': 'private, no-cache',
  // The page of a PDF embeds it.
  'Content-Security-Policy': type === pdfType ? `${sandbox}; frame-ancestors 'self'` : sandbox,
  'Content-Disposition': contentDisposition,
  Vary: 'Cookie, Authorization',
});

/**
 * A Git LFS object, or a range of it, because it may be large. Only images and PDF have a type; others are downloaded.
 */
function sendObject(
  context: RepositoryContext,
  { lfs }: CodeDeps,
  object: LfsObjectRow,
  { name, entryName }: { name: Buffer; entryName: string },
): Promise<Reply> {
  const type = shownType(entryName);
  const isDownload = type === null || context.query.get('download') === '1' || isActive(entryName);
  return rangeReply(context, {
    type: type ?? 'application/octet-stream',
    bytes: object.bytes,
    headers: headersOf(
      `lfs-${object.oid}`,
      formatContentDisposition(isDownload ? 'attachment' : 'inline', name),
      type ?? '',
    ),
    open: async (range) => (await lfs.read(object, range)).stream,
  });
}
