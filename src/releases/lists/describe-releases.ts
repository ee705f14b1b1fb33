import type { Person } from '../../accounts/index.ts';
import { idsIn, rowBy } from '../../db/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { releaseCountsSchema, releaseFileSchema, releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseCounts, ReleaseFile, ReleaseRow } from '../schema/release-schema.ts';

/** A release as shown in lists and on pages. */
export interface DescribedRelease extends ReleaseRow {
  /** Null for an author without an account here; see `authorName`. */
  author: Person | null;
  /** Sorted by name. */
  files: ReleaseFile[];
}

/** Adds authors and files to releases that the viewer can read, with one query per kind. */
export async function describeReleases(
  { db, accounts }: Pick<ReleaseDeps, 'db' | 'accounts'>,
  releases: readonly ReleaseRow[],
): Promise<DescribedRelease[]> {
  if (releases.length === 0) return [];
  const ids = releases.map(({ id }) => id);
  const [files, people] = await Promise.all([
    db.read
      .createQueryBuilder(releaseFileSchema, 'f')
      .where(...idsIn('f.release_id', ids))
      .getMany(),
    accounts.peopleById(releases.flatMap(({ authorId }) => authorId ?? [])),
  ]);
  const byRelease = Map.groupBy(files, ({ releaseId }) => releaseId);
  return releases.map((release) => ({
    ...release,
    author: release.authorId === null ? null : (people.get(release.authorId) ?? null),
    files: (byRelease.get(release.id) ?? []).sort((one, other) => (one.name < other.name ? -1 : 1)),
  }));
}

/** Filters tags to those with a published release. Does not check access. */
export async function releasedTags(
  { db }: Pick<ReleaseDeps, 'db'>,
  repositoryId: string,
  tags: readonly string[],
): Promise<string[]> {
  const rows = await db.read
    .createQueryBuilder(releaseSchema, 'r')
    .select(['r.id', 'r.tag'])
    .where('r.repository_id = :repositoryId AND r.is_draft = 0', { repositoryId })
    .andWhere(...idsIn('r.tag', tags))
    .getMany();
  return rows.map(({ tag }) => tag).sort();
}

/** Number of releases of a repository for its tab, from the row cache. Does not check access. */
export async function countReleases(
  { db }: Pick<ReleaseDeps, 'db'>,
  repositoryId: string,
): Promise<Omit<ReleaseCounts, 'repositoryId'>> {
  const {
    published = 0,
    drafts = 0,
    bytes = 0,
  } = (await rowBy(db.lookup, releaseCountsSchema, { repositoryId })) ?? {};
  return { published, drafts, bytes };
}
