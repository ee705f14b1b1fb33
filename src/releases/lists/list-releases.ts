import type { Viewer } from '../../access/index.ts';
import { refusalOnRelease } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import { readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { findContext } from '../find-release.ts';
import type { RepositoryAt } from '../find-release.ts';
import { releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseRow } from '../schema/release-schema.ts';

const keyOf = ({ listedAt, id }: ReleaseRow): string => `${listedAt}.${id}`;

function readKey(key: string): { at: number; id: string } {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(key) ?? [];
  if (at === undefined || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { at: Number(at), id };
}

/** Releases, newest first; includes drafts for users with write access. Throws `invalid_page`. */
export async function listReleases(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  paging: KeysetPaging,
): Promise<KeysetPage<ReleaseRow>> {
  const { query } = await queryFor(deps, viewer, at);
  return readKeysetPage(paging, keyOf, async ({ key, isBackwards, limit }) => {
    const page = query().limit(limit);
    if (key !== null) page.andWhere(`(r.listed_at, r.id) ${isBackwards ? '>' : '<'} (:at, :id)`, { ...readKey(key) });
    const order = isBackwards ? 'ASC' : 'DESC';
    return page.orderBy('r.listed_at', order).addOrderBy('r.id', order).getMany();
  });
}

interface ReleaseFilter {
  isDraft?: boolean | undefined;
  isPrerelease?: boolean | undefined;
}

/** Releases by page number, for clients that count pages. @param limit at most 100 */
export async function listReleasesByPage(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { page, limit, ...filter }: ReleaseFilter & { page: number; limit: number },
): Promise<{ rows: ReleaseRow[]; total: number; isLast: boolean }> {
  const { query } = await queryFor(deps, viewer, at);
  const found = query();
  if (filter.isDraft !== undefined) found.andWhere('r.is_draft = :draft', { draft: filter.isDraft ? 1 : 0 });
  if (filter.isPrerelease !== undefined)
    found.andWhere('r.is_prerelease = :prerelease', { prerelease: filter.isPrerelease ? 1 : 0 });
  // The index contains only the releases of the repository.
  const total = await found.getCount();
  const rows = await found
    .orderBy('r.listed_at', 'DESC')
    .addOrderBy('r.id', 'DESC')
    .limit(limit + 1)
    .offset((page - 1) * limit)
    .getMany();
  return { rows: rows.slice(0, limit), total, isLast: rows.length <= limit };
}

async function queryFor({ db, ...deps }: ReleaseDeps, viewer: Viewer, at: RepositoryAt) {
  const { found, facts } = await findContext({ db, ...deps }, viewer, at);
  const seesDrafts = refusalOnRelease(viewer, facts, { draft: true }, 'read') === null;
  const { id: repositoryId } = found.repository;
  return {
    query: () =>
      db.read
        .createQueryBuilder(releaseSchema, 'r')
        .where(`r.repository_id = :repositoryId${seesDrafts ? '' : ' AND r.is_draft = 0'}`, { repositoryId }),
  };
}
