import { artifactDisposition } from '../../artifacts/send-artifact.ts';
import { content, seeOther } from '../../responses/reply.ts';
import type { Reply } from '../../responses/reply.ts';
import { runUrl } from '../../views/ci/run-row.ts';
import { withNotice } from '../../views/notices.ts';
import { repositoryUrl } from '../../views/urls.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../../request-context.ts';
import { pathNumber } from './read-numbers.ts';

/** One artifact of a run as a zip. */
export const downloadArtifact: Page<RepositoryContext> = async ({ found, params }, { ci }): Promise<Reply> => {
  const { name, bytes, content: body } = await ci.openArtifact(found, pathNumber(params.number), pathNumber(params.id));
  return content('application/zip', body, {
    headers: {
      'Content-Disposition': artifactDisposition(name),
      'Content-Security-Policy': "default-src 'none'; sandbox",
      Vary: 'Cookie, Authorization',
      'Cache-Control': 'private, no-cache',
      ...(bytes === null ? {} : { 'Content-Length': String(bytes) }),
    },
  });
};

export const removeArtifact: Page<RepositoryPersonContext> = async (
  { viewer, found, params },
  { ci },
): Promise<Reply> => {
  const number = pathNumber(params.number);
  await ci.removeArtifact(viewer, found, number, pathNumber(params.id));
  return seeOther(withNotice(runUrl(repositoryUrl(found.canonical), number), 'artifact-removed'));
};
