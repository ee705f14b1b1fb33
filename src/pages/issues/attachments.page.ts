import { attachmentPath, isShownInline } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { parseRange } from '../../http/index.ts';
import { statusOfRefusal } from '../app/map-errors.ts';
import { content, movedTo, type Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';

/**
 * `B/attachments/{id}`: a file of an issue, for viewers who may see its text. It goes along with an issue that
 * moves: its old address redirects. Images are shown, everything else is downloaded, and each has a sandbox CSP
 * (security C03).
 */
export const showAttachment: Page<RepositoryContext, IssuesDeps> = async (
  { viewer, params, range: rangeHeader, ifRange },
  { issues },
): Promise<Reply> => {
  const { owner = '', name = '', id = '' } = params;
  const { attachment, repository } = await issues.findAttachment(viewer, id);
  if (owner !== repository.owner || name !== repository.name) return movedTo(attachmentPath(repository, id));
  const { bytes, contentType, sha256 } = attachment;
  const tag = `"${sha256.slice(0, 32)}"`;
  const range = rangeHeader !== '' && (ifRange === '' || ifRange === tag) ? parseRange(rangeHeader, bytes) : null;
  const headers = {
    ETag: tag,
    'Accept-Ranges': 'bytes',
    // Who may see it can change at any time, so it is asked for again; the tag saves the bytes.
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Disposition': disposition(isShownInline(attachment) ? 'inline' : 'attachment', attachment.name),
    Vary: 'Cookie, Authorization',
  };
  if (range === 'unsatisfiable')
    return content('text/plain; charset=utf-8', '', {
      status: 416,
      headers: { 'Content-Range': `bytes */${bytes}`, 'Cache-Control': 'private, no-store' },
    });
  const { stream } = await issues.readAttachment(attachment, range ?? undefined);
  if (range === null) return content(contentType, stream, { headers: { ...headers, 'Content-Length': String(bytes) } });
  const { first, last } = range;
  return content(contentType, stream, {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(last - first + 1),
      'Content-Range': `bytes ${first}-${last}/${bytes}`,
    },
  });
};

/** Plain ASCII, and the true name in the form for everything else (RFC 6266). */
function disposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\w.+ -]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** `POST B/issues/attachments` and `B/pulls/attachments`, for pasted and dropped files: JSON that says what a text shows them by. */
export const uploadAttachments: Page<RepositoryContext, IssuesDeps> = ({ takeFiles }): Reply => {
  const json = (status: number, value: unknown): Reply =>
    content('application/json; charset=utf-8', JSON.stringify(value), {
      status,
      headers: { 'Cache-Control': 'private, no-store' },
    });
  try {
    const files = takeFiles();
    if (files.length === 0) return json(422, { message: 'Send a file in the field files.' });
    return json(201, { files });
  } catch (error) {
    if (!isDomainError(error) || error.code === 'internal') throw error;
    return json(statusOfRefusal(error), { message: error.message });
  }
};
