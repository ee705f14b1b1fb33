import type { EntitySchema } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { idsIn, selectRaw, selectRows } from '../../db/index.ts';
import type { PackageDeps } from '../deps.ts';
import { packageSchema, packageTagSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageRow, PackageTagRow, PackageVersionRow } from '../schema/package-schema.ts';
import { conditionsOf, joined } from './list-packages.ts';
import type { PackageFilter } from './list-packages.ts';

type Deps = Pick<PackageDeps, 'db'>;

/** A version in a list over several packages. */
export interface ListedVersion {
  package: PackageRow;
  version: PackageVersionRow;
}

/**
 * Versions of the packages that the viewer can read: the last changed package first, and within it the newest version
 * first. Stored counts determine the packages of a page, so that no earlier version is read.
 * @returns also the total number
 */
export async function pageOfAllVersions(
  { db }: Deps,
  viewer: Viewer,
  { limit, offset = 0, ...filter }: PackageFilter,
): Promise<{ rows: ListedVersion[]; total: number }> {
  const { where, parameters } = conditionsOf(viewer, filter);
  const counts = await selectRaw<{ id: string; versions: number }>(
    db.read,
    `SELECT p.id, p.versions FROM ${joined} WHERE ${where} ORDER BY p.updated_at DESC, p.id`,
    parameters,
  );
  const parts: { id: string; limit: number; offset: number }[] = [];
  let [total, left] = [0, limit];
  for (const { id, versions } of counts) {
    const skipped = Math.max(0, offset - total);
    total += Number(versions);
    if (left === 0 || skipped >= versions) continue;
    const taken = Math.min(left, Number(versions) - skipped);
    parts.push({ id, limit: taken, offset: skipped });
    left -= taken;
  }
  const packages = await byIds(
    { db },
    'packages',
    packageSchema,
    parts.map(({ id }) => id),
  );
  const rows: ListedVersion[] = [];
  for (const part of parts)
    for (const version of await newest({ db }, part)) {
      const row = packages.get(part.id);
      if (row !== undefined) rows.push({ package: row, version });
    }
  return { rows, total };
}

const newest = ({ db }: Deps, { id, limit, offset }: { id: string; limit: number; offset: number }) =>
  selectRows(
    db.read,
    packageVersionSchema,
    `SELECT v.* FROM package_versions v WHERE v.package_id = :id AND v.deleted_at IS NULL
      ORDER BY v.created_at DESC, v.id LIMIT :limit OFFSET :offset`,
    { id, limit, offset },
  );

/** The newest version of each package, shown first on its page: for an image, the last tagged one. */
export async function latestOf(
  { db }: Deps,
  { id, format }: Pick<PackageRow, 'id' | 'format'>,
): Promise<{ version: PackageVersionRow; tag: string | null } | null> {
  if (format === 'oci') {
    const [tag] = await pageOfTags({ db }, { id }, { limit: 1 });
    if (tag !== undefined) return { version: tag.version, tag: tag.tag.name };
  }
  const [version] = await newest({ db }, { id, limit: 1, offset: 0 });
  return version === undefined ? null : { version, tag: null };
}

/** Tags of a package with their versions, last moved first. */
export async function pageOfTags(
  { db }: Deps,
  { id }: Pick<PackageRow, 'id'>,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<{ tag: PackageTagRow; version: PackageVersionRow }[]> {
  const tags = await selectRows(
    db.read,
    packageTagSchema,
    `SELECT t.* FROM package_tags t JOIN package_versions v ON v.id = t.version_id
      WHERE t.package_id = :id AND v.deleted_at IS NULL
      ORDER BY t.updated_at DESC, t.name LIMIT :limit OFFSET :offset`,
    { id, limit, offset },
  );
  const versions = await byIds(
    { db },
    'package_versions',
    packageVersionSchema,
    tags.map(({ versionId }) => versionId),
  );
  return tags.flatMap((tag) => {
    const version = versions.get(tag.versionId);
    return version === undefined ? [] : [{ tag, version }];
  });
}

/** Packages or versions by id. */
async function byIds<Row extends { id: string }>(
  { db }: Deps,
  table: 'packages' | 'package_versions',
  schema: EntitySchema<Row>,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  if (ids.length === 0) return new Map();
  const [condition, parameters] = idsIn('r.id', ids);
  const rows = await selectRows(db.read, schema, `SELECT r.* FROM ${table} r WHERE ${condition}`, parameters);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Names of the tags of versions, by version id. */
export async function tagsOfVersions(
  { db }: Deps,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  if (versionIds.length === 0) return new Map();
  const [condition, parameters] = idsIn('t.version_id', versionIds);
  const rows = await selectRows(
    db.read,
    packageTagSchema,
    `SELECT t.* FROM package_tags t WHERE ${condition}`,
    parameters,
  );
  const names = new Map<string, string[]>();
  rows.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { versionId, name } of rows) names.set(versionId, [...(names.get(versionId) ?? []), name]);
  return names;
}

/**
 * Deleted versions of an owner that can still be restored, from the last changed packages; last deleted first. The
 * caller checks access to each package.
 */
export async function trashOfOwner({ db }: Deps, ownerId: string, limit: number): Promise<ListedVersion[]> {
  const versions = await selectRows(
    db.read,
    packageVersionSchema,
    `SELECT v.* FROM packages p JOIN package_versions v ON v.package_id = p.id
      WHERE p.owner_id = :ownerId AND v.deleted_at IS NOT NULL ORDER BY p.updated_at DESC, p.id LIMIT :limit`,
    { ownerId, limit },
  );
  versions.sort((one, other) => (other.deletedAt ?? 0) - (one.deletedAt ?? 0));
  const packages = await byIds({ db }, 'packages', packageSchema, [
    ...new Set(versions.map(({ packageId }) => packageId)),
  ]);
  return versions.flatMap((version) => {
    const row = packages.get(version.packageId);
    return row === undefined ? [] : [{ package: row, version }];
  });
}
