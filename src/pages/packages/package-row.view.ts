import { formatOf } from '../../packages/index.ts';
import type { PackageRow, PackageVersionRow } from '../../packages/index.ts';
import { packagePath } from '../../gitea-shapes/index.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import type { PackagesDeps } from './deps.ts';

/** A package in a list. */
interface PackageRowView {
  name: string;
  format: string;
  url: string;
  isPrivate: boolean;
  /** Its newest version; for an image, the tag. */
  latest: string | null;
  versions: string;
  updated: TimeView;
}

/** `sha256:0123456789ab`: a digest shortened to a distinct prefix. */
export const shortDigest = (digest: string): string => digest.replace(/^(sha\d+:[0-9a-f]{12})[0-9a-f]*$/, '$1');

export const viewVersionName = ({ version }: Pick<PackageVersionRow, 'version'>, tag: string | null = null): string =>
  tag ?? viewName(shortDigest(version));

/**
 * @param owners usernames by id; visibility is known for the linked repositories
 */
export async function viewPackageRows(
  { packages, repositories, owners, clock }: PackagesDeps,
  rows: readonly PackageRow[],
): Promise<PackageRowView[]> {
  const [located, handles, latest] = await Promise.all([
    repositories.locate(rows.flatMap(({ repositoryId }) => repositoryId ?? [])),
    owners.ownersById(rows.map(({ ownerId }) => ownerId)),
    Promise.all(rows.map((row) => packages.versions.latest(row))),
  ]);
  const now = clock.now();
  return rows.map((row, at) => {
    const followed = row.repositoryId === null ? undefined : located.get(row.repositoryId);
    const newest = latest[at] ?? null;
    return {
      name: viewName(row.name),
      format: formatOf(row.format).title,
      url: packagePath(handles.get(row.ownerId)?.handle ?? '', row),
      isPrivate: (followed?.repository ?? row).visibility === 'PRIVATE',
      latest: newest === null ? null : viewVersionName(newest.version, newest.tag),
      versions: viewCount(row.versions, 'version'),
      updated: viewTime(row.updatedAt, now),
    };
  });
}
