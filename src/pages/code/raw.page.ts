import { notFound } from '../../kernel/index.ts';
import { content, type Reply } from '../app/reply.ts';
import { splitPath } from '../app/code-urls.ts';
import { imageType, isActive } from './media-types.ts';
import { charsetOf } from './read-text.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { locate } from './resolve-location.ts';
import type { CodeDeps } from './deps.ts';

/** Smaller files come from memory; larger ones flow from a process of their own. */
const maxHeldBytes = 2 * 1024 * 1024;

/** A name for `Content-Disposition`: plain ASCII, and the true name in the form for everything else (RFC 6266). */
function disposition(kind: 'inline' | 'attachment', name: Buffer): string {
  const text = name.toString();
  const plain = text.replace(/[^\w.+ -]/g, '_');
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(text).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`)}`;
}

/**
 * `B/raw/{ref}/{path}`: the bytes of a file. Text is plain text whatever it is called;
 * pictures have their type; what a browser would run is only ever downloaded, and all of
 * it stands in a sandbox (security C03).
 */
export const showRaw: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { git } = deps;
  const { found, query } = context;
  const at = await locate(context, deps);
  const entry = await git.objects.entryAt(found.path, at.oid, at.file);
  if (entry.type !== 'blob') throw notFound();
  const { content: held } = await git.objects.blob(found.path, entry.oid, { maxBytes: maxHeldBytes });
  // Larger ones are taken for what their name says, or for binary.
  const charset = held === null ? null : charsetOf(held, true);
  const name = splitPath(at.file).name;
  const image = imageType(entry.name);
  const isDownload = query.get('download') === '1' || isActive(entry.name);
  const type = image ?? (charset === null ? 'application/octet-stream' : `text/plain; charset=${charset}`);
  return content(type, held ?? (await git.queries.streamBlob(found.path, entry.oid)), {
    headers: {
      ETag: `"${entry.oid}"`,
      // Who may see it can change at any time, so it is asked for again; the tag saves the bytes.
      'Cache-Control': 'private, no-cache',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Content-Disposition': disposition(isDownload ? 'attachment' : 'inline', name),
      Vary: 'Cookie, Authorization',
    },
  });
};
