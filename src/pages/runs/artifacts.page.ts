import { content, seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { runUrl } from './run-row.view.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { attachmentDisposition, repositoryUrl, runPathNumber } from '../../http/index.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';

/** One artifact of a run, as a zip or as its single file. */
export const downloadArtifact: Page<RepositoryContext, RunsDeps> = async (
  { found, params },
  { ci },
): Promise<Reply> => {
  const {
    fileName,
    mediaType,
    bytes,
    content: body,
  } = await ci.artifacts.open(found, runPathNumber(params.number), runPathNumber(params.id));
  return content(mediaType, body, {
    headers: {
      'Content-Disposition': attachmentDisposition(fileName),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      Vary: 'Cookie, Authorization',
      'Cache-Control': 'private, no-cache',
      ...(bytes === null ? {} : { 'Content-Length': String(bytes) }),
    },
  });
};

export const removeArtifact: Page<RepositoryPersonContext, RunsDeps> = async (
  { viewer, found, params },
  { ci },
): Promise<Reply> => {
  const number = runPathNumber(params.number);
  await ci.artifacts.remove(viewer, found, number, runPathNumber(params.id));
  return seeOther(withFlashMessage(runUrl(repositoryUrl(found.canonical), number), 'artifact-removed'));
};
