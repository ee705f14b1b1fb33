import { readableSize } from '../../kernel/index.ts';
import { isContributedUpload, personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { LfsDeps } from '../deps.ts';
import type { LfsContext } from '../lfs-context.ts';
import { overQuota } from '../lfs-errors.ts';

type Reader = { query(sql: string, values: unknown[]): Promise<unknown> };
type Sum = { bytes: number | string | null }[];

/**
 * Throws `lfs_quota` if that many more bytes exceed the quota: of the repository, of all repositories of its owner, or
 * of contributions by a user without write access. Without request facts the server acts for itself.
 * @param reader the read connection, or the manager of the write that stores a row
 */
export async function refuseOverQuota(
  { settings }: Pick<LfsDeps, 'settings'>,
  reader: Reader,
  viewer: Viewer,
  { repository, facts }: Pick<LfsContext, 'repository'> & { facts: LfsContext['facts'] | null },
  bytes: number,
): Promise<void> {
  const used = await sumOf(reader, 'SELECT l.bytes FROM lfs_repositories l WHERE l.repository_id = ?', [repository.id]);
  refuse(used + bytes, settings.repositoryQuotaBytes, 'this repository', used);
  const all = await bytesOfOwner(reader, repository);
  refuse(all + bytes, settings.ownerQuotaBytes, 'all repositories of its owner together', all);
  const personId = personIdOf(viewer);
  if (facts === null || personId === null || !isContributedUpload(viewer, facts)) return;
  const own = await sumOf(
    reader,
    'SELECT sum(o.bytes) AS bytes FROM lfs_objects o WHERE o.uploader_id = ? AND o.repository_id = ?',
    [personId, repository.id],
  );
  refuse(own + bytes, settings.contributedBytes, 'one user’s pull requests to this repository', own);
}

/** Bytes of all repositories of an owner, except those in the trash. */
function bytesOfOwner(
  reader: Reader,
  { ownerUserId, ownerOrganisationId }: Pick<Repository, 'ownerUserId' | 'ownerOrganisationId'>,
): Promise<number> {
  const column = ownerUserId === null ? 'owner_org_id' : 'owner_user_id';
  return sumOf(
    reader,
    `SELECT sum(l.bytes) AS bytes FROM repositories r JOIN lfs_repositories l ON l.repository_id = r.id
      WHERE r.${column} = ? AND r.deleted_at IS NULL`,
    [ownerUserId ?? ownerOrganisationId],
  );
}

async function sumOf(reader: Reader, sql: string, values: unknown[]): Promise<number> {
  return Number(((await reader.query(sql, values)) as Sum)[0]?.bytes ?? 0);
}

function refuse(wanted: number, quota: number, what: string, used: number): void {
  if (wanted > quota)
    throw overQuota(
      `The quota for Git LFS files in ${what} is ${readableSize(quota)}. ${readableSize(used)} are in use, and this ` +
        `upload needs ${readableSize(wanted - used)} more.`,
    );
}
