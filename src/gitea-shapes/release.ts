import type { z } from 'zod';
import type { Person } from '../accounts/index.ts';
import { releaseFilePath, releaseNumberOf, releasePath } from '../releases/index.ts';
import type { ReleaseFile, ReleaseRow } from '../releases/index.ts';
import type { Located } from '../repositories/index.ts';
import type { ServerPlace } from './place.ts';
import { giteaTime } from './time.ts';
import { userPayload } from './user.ts';
import type * as schemas from './release-schema.ts';

type ReleaseFilePayload = z.output<typeof schemas.releaseFile>;
type ReleasePayload = z.output<typeof schemas.release>;

export function releaseFilePayload(
  { id, name, bytes, sha256, downloads, createdAt }: ReleaseFile,
  tag: string,
  { owner, repository }: Pick<Located, 'owner' | 'repository'>,
  { baseUrl }: Pick<ServerPlace, 'baseUrl'>,
): ReleaseFilePayload {
  return {
    id: releaseNumberOf(id),
    uuid: id,
    name,
    size: bytes,
    download_count: downloads,
    created_at: giteaTime(createdAt),
    browser_download_url: `${baseUrl ?? ''}${releaseFilePath({ owner: owner.handle, name: repository.name }, tag, name)}`,
    type: 'attachment',
    digest: `sha256:${sha256}`,
  };
}

/** @param author null for an author without an account here */
export function releasePayload(
  release: ReleaseRow & { files: readonly ReleaseFile[] },
  author: Person | null,
  place: Pick<Located, 'owner' | 'repository'>,
  settings: Pick<ServerPlace, 'baseUrl'>,
): ReleasePayload {
  const { id, tag, target, title, body, isDraft, isPrerelease, createdAt, listedAt, files } = release;
  const at = { owner: place.owner.handle, name: place.repository.name };
  const base = settings.baseUrl ?? '';
  const url = `${base}/api/v1/repos/${at.owner}/${at.name}/releases/${releaseNumberOf(id)}`;
  const archive = `${base}/repos/${at.owner}/${at.name}/archive/refs/tags/${tag.split('/').map(encodeURIComponent).join('/')}`;
  return {
    id: releaseNumberOf(id),
    tag_name: tag,
    target_commitish: target,
    name: title === '' ? tag : title,
    body,
    url,
    html_url: `${base}${releasePath(at, tag)}`,
    tarball_url: `${archive}.tar.gz`,
    zipball_url: `${archive}.zip`,
    upload_url: `${url}/assets`,
    draft: isDraft,
    prerelease: isPrerelease,
    created_at: giteaTime(createdAt),
    published_at: giteaTime(listedAt),
    author: userPayload(author, settings),
    assets: files.map((file) => releaseFilePayload(file, tag, place, settings)),
  };
}
