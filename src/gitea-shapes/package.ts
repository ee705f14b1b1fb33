import type { z } from 'zod';
import type { FormatName, PackageFileRow, PackageRow, PackageVersionRow } from '../packages/index.ts';
import { numericId } from './numeric-id.ts';
import type * as schemas from './package-schema.ts';
import type { RepositoryPayload } from './repository.ts';
import { giteaTime } from './time.ts';
import type { UserPayload } from './user.ts';

type PackagePayload = z.output<typeof schemas.giteaPackage>;
type PackageFilePayload = z.output<typeof schemas.giteaPackageFile>;
type PackageType = PackagePayload['type'];

const packageTypeOf = (format: FormatName): PackageType => (format === 'oci' ? 'container' : format);

/** The format of a name used by Gitea or this server; null for any other name. */
export function formatOfType(type: string): FormatName | null {
  if (type === 'container' || type === 'oci') return 'oci';
  return (['cargo', 'generic', 'maven', 'npm', 'pypi'] as const).find((name) => name === type) ?? null;
}

/** The URL path of a package, or of a version of it, on this server. */
export function packagePath(
  owner: string,
  { format, name }: Pick<PackageRow, 'format' | 'name'>,
  version: string | null = null,
): string {
  const parts = [owner, '-', format, name, ...(version === null ? [] : [version])];
  return `/packages/${parts.map(encodeURIComponent).join('/')}`;
}

/**
 * @param shown display name of the version: for an image, a tag
 */
export function packagePayload(
  { package: row, version, shown = version.version }: ShownVersion,
  { owner, creator, repository }: { owner: UserPayload; creator: UserPayload; repository: RepositoryPayload | null },
  { baseUrl }: { baseUrl: string | null },
): PackagePayload {
  return {
    id: numericId(version.id),
    owner,
    repository,
    creator,
    type: packageTypeOf(row.format),
    name: row.name,
    html_url: `${baseUrl ?? ''}${packagePath(owner.login, row, shown)}`,
    version: shown,
    created_at: giteaTime(version.createdAt),
  };
}

interface ShownVersion {
  package: PackageRow;
  version: PackageVersionRow;
  shown?: string;
}

export const packageFilePayload = ({
  id,
  name,
  bytes,
  md5,
  sha1,
  sha256,
  sha512,
}: PackageFileRow): PackageFilePayload => ({
  id: numericId(id),
  size: bytes,
  name,
  md5: md5 ?? '',
  sha1: sha1 ?? '',
  sha256,
  sha512: sha512 ?? '',
});
