import { allows } from '../../access/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { ArchiveFormat } from '../../git/index.ts';
import { content, type Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { rawPath } from './raw-path.ts';
import type { CodeDeps } from './deps.ts';

const types: Readonly<Record<ArchiveFormat, string>> = { 'tar.gz': 'application/gzip', zip: 'application/zip' };

/** A folder or file name that every operating system accepts. */
const plainName = (text: string): string =>
  text
    .replace(/^v(?=\d)/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100) || 'files';

/** `B/archive/{ref}.tar.gz` and `.zip`: all files of a commit, streamed; files of Git LFS with their content. */
export const showArchive: Page<RepositoryContext, CodeDeps> = async (
  { found, path, address, origin },
  { git, lfs },
): Promise<Reply> => {
  const [, ref, format] = /^(.+)\.(tar\.gz|zip)$/s.exec(rawPath(path).toString('latin1')) ?? [];
  if (ref === undefined) throw notFound();
  const at = await git.queries.resolveRefPath(found.path, Buffer.from(ref, 'latin1'), {
    includeUnreachable: allows(found.level, 'write'),
    // A branch with the name of a tag must not replace a published version.
    tagsFirst: true,
  });
  if (at.file.length > 0) throw notFound();
  const prefix = `${found.canonical.name}-${plainName(at.kind === 'commit' ? at.oid.slice(0, 10) : at.name)}`;
  const request = { oid: at.oid, format: format as ArchiveFormat, prefix, client: address };
  const body =
    (await lfs.fillArchive(found.repository.id, request.format, () => git.queries.archiveAsTar(found.path, request))) ??
    (await git.queries.archive(found.path, request));
  const { committer } = await git.objects.commit(found.path, at.oid);
  // Tools that lock what they fetch, such as nix, keep the address of the commit instead of the branch.
  const lasting = `${origin}${repositoryUrl(found.canonical)}/archive/${at.oid}.${format}`;
  return content(types[format as ArchiveFormat], body, {
    headers: {
      'Content-Disposition': `attachment; filename="${prefix}.${format}"`,
      ETag: `"${at.oid}.${format}.${prefix}"`,
      'Last-Modified': new Date(Math.max(committer.at, 0)).toUTCString(),
      ...(at.kind === 'commit' ? {} : { Link: `<${lasting}>; rel="immutable"` }),
      Vary: 'Cookie, Authorization',
      'Cache-Control': 'private, no-cache',
    },
  });
};
