import { isDomainError } from '../../kernel/index.ts';
import { releaseFilePath } from '../../releases/index.ts';
import { seeOther } from '../app/reply.ts';
import { content } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { sendFile } from '../app/send-file.ts';
import type { ReleasesDeps } from './deps.ts';
import { restOf, splitDownload } from './release-urls.ts';

const checksumEnding = '.sha256';

/**
 * `B/releases/download/{tag}/{file}`: always a download; supports range requests. With the suffix `.sha256`, the digest
 * in the format of `sha256sum`, unless a file has that name.
 */
export const downloadFile: Page<RepositoryContext, ReleasesDeps> = async (context, { releases }): Promise<Reply> => {
  const { viewer, found, method, range, ifRange } = context;
  const { tag, name } = splitDownload(restOf(context));
  try {
    const { file } = await releases.files.find(viewer, found.canonical, { tag }, { name });
    return await sendFile(
      { range, ifRange },
      { ...file, contentType: 'application/octet-stream', isInline: false },
      async (part) => {
        if (method === 'GET' && (part === undefined || part.first === 0)) releases.files.countDownload(file.id);
        return (await releases.files.read(file, part)).stream;
      },
    );
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'release_file_not_found' || !name.endsWith(checksumEnding))
      throw error;
    const of = { name: name.slice(0, -checksumEnding.length) };
    const { file } = await releases.files.find(viewer, found.canonical, { tag }, of);
    return content('text/plain; charset=utf-8', `${file.sha256}  ${file.name}\n`, {
      headers: { 'Cache-Control': 'private, no-cache', Vary: 'Cookie, Authorization' },
    });
  }
};

/** `B/releases/latest/download/{file}` redirects to the file of the latest release. */
export const downloadLatest: Page<RepositoryContext, ReleasesDeps> = async (context, { releases }) => {
  const { viewer, found, params } = context;
  const { tag } = await releases.find(viewer, found.canonical, 'latest');
  return seeOther(releaseFilePath(found.canonical, tag, params['file'] ?? ''));
};
