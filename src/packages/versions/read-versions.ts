import type { EntityManager } from 'typeorm';
import { rowBy, selectRows } from '../../db/index.ts';
import type { PackageDeps } from '../deps.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { FormatName } from '../formats/format.ts';
import { formatOf } from '../formats/formats.ts';
import { versionNotFound } from '../package-errors.ts';
import type { FoundPackage } from '../rights/find-package.ts';
import { packageFileSchema, packageTagSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageFileRow, PackageTagRow, PackageVersionRow } from '../schema/package-schema.ts';

type Deps = Pick<PackageDeps, 'db'>;
type Found = { package: Pick<FoundPackage['package'], 'id'> };

/** A version by its key, outside the trash. Throws `package_version_not_found`. */
export async function findVersion(
  { db }: Deps,
  { package: { id } }: Found,
  versionKey: string,
): Promise<PackageVersionRow> {
  const row = await rowBy(db.lookup, packageVersionSchema, { packageId: id, versionKey });
  if (row === null || row.deletedAt !== null) throw versionNotFound();
  return row;
}

/** The version of a tag. Throws `package_version_not_found`. */
export async function versionOfTag({ db }: Deps, { package: { id } }: Found, name: string): Promise<PackageVersionRow> {
  const tag = await rowBy(db.lookup, packageTagSchema, { packageId: id, name });
  const row = tag === null ? null : await rowBy(db.lookup, packageVersionSchema, { id: tag.versionId });
  if (row === null || row.deletedAt !== null) throw versionNotFound();
  return row;
}

/** The target of a reference to a version. */
export interface NamedVersion {
  version: PackageVersionRow;
  /** The tag in the reference; null for its own name. */
  tag: string | null;
}

/** A version by its name or, for images and npm, by a tag. Throws `package_version_not_found`. */
export async function versionNamed(deps: Deps, found: FoundPackage, reference: string): Promise<NamedVersion> {
  const { format } = found.package;
  const key = keyOrNull(format, reference);
  const row =
    key === null
      ? null
      : await rowBy(deps.db.lookup, packageVersionSchema, { packageId: found.package.id, versionKey: key });
  if (row !== null && row.deletedAt === null) return { version: row, tag: null };
  return { version: await versionOfTag(deps, found, reference), tag: reference };
}

/** A deleted version by its name. Throws `package_version_not_found`. */
export async function trashedVersion({ db }: Deps, found: FoundPackage, reference: string): Promise<PackageVersionRow> {
  const key = keyOrNull(found.package.format, reference);
  const row =
    key === null
      ? null
      : await rowBy(db.lookup, packageVersionSchema, { packageId: found.package.id, versionKey: key });
  if (row === null || row.deletedAt === null) throw versionNotFound();
  return row;
}

function keyOrNull(format: FormatName, reference: string): string | null {
  try {
    return formatOf(format).versionKey(reference);
  } catch (error) {
    if (isDomainError(error)) return null;
    throw error;
  }
}

/** All versions outside the trash, newest first. */
export const allVersions = ({ db }: Deps, { package: { id } }: Found): Promise<PackageVersionRow[]> =>
  selectRows(
    db.read,
    packageVersionSchema,
    `SELECT v.* FROM package_versions v
      WHERE v.package_id = :id AND v.deleted_at IS NULL ORDER BY v.created_at DESC, v.id`,
    { id },
  );

/** Some versions, newest first; optionally including those in the trash. */
export const pageOfVersions = (
  { db }: Deps,
  { package: { id } }: Found,
  { limit, offset = 0, trashed = false }: { limit: number; offset?: number; trashed?: boolean },
): Promise<PackageVersionRow[]> =>
  selectRows(
    db.read,
    packageVersionSchema,
    `SELECT v.* FROM package_versions v
      WHERE v.package_id = :id AND v.deleted_at IS ${trashed ? 'NOT ' : ''}NULL
      ORDER BY v.created_at DESC, v.id LIMIT :limit OFFSET :offset`,
    { id, limit, offset },
  );

/** All files of a package whose versions are outside the trash, sorted by name. */
export const allFiles = ({ db }: Deps, { package: { id } }: Found): Promise<PackageFileRow[]> =>
  selectRows(
    db.read,
    packageFileSchema,
    `SELECT f.* FROM package_files f JOIN package_versions v ON v.id = f.version_id
      WHERE f.package_id = :id AND v.deleted_at IS NULL ORDER BY f.name_key`,
    { id },
  );

export const filesOf = ({ db }: Deps, versionId: string): Promise<PackageFileRow[]> =>
  selectRows(
    db.read,
    packageFileSchema,
    'SELECT f.* FROM package_files f WHERE f.version_id = :versionId ORDER BY f.name_key',
    { versionId },
  );

/** A file of a version. Throws `package_version_not_found`. */
export async function findFile({ db }: Deps, versionId: string, nameKey: string): Promise<PackageFileRow> {
  const row = await rowBy(db.lookup, packageFileSchema, { versionId, nameKey });
  if (row === null) throw versionNotFound();
  return row;
}

/** Tags of versions outside the trash, sorted by name, after a given one. */
export const tagsOf = (
  { db }: Deps,
  { package: { id } }: Found,
  { after = '', limit = 10_000 }: { after?: string; limit?: number } = {},
): Promise<PackageTagRow[]> =>
  selectRows(
    db.read,
    packageTagSchema,
    `SELECT t.* FROM package_tags t JOIN package_versions v ON v.id = t.version_id
      WHERE t.package_id = :id AND t.name > :after AND v.deleted_at IS NULL ORDER BY t.name LIMIT :limit`,
    { id, after, limit },
  );

/** The tags of some versions. */
export const tagsOfVersion = ({ db }: Deps, versionId: string): Promise<PackageTagRow[]> =>
  selectRows(
    db.read,
    packageTagSchema,
    'SELECT t.* FROM package_tags t WHERE t.version_id = :versionId ORDER BY t.name',
    { versionId },
  );

/** Manifests about a manifest, outside the trash, oldest first. */
export const referrersOf = ({ db }: Deps, { package: { id } }: Found, subject: string): Promise<PackageVersionRow[]> =>
  selectRows(
    db.read,
    packageVersionSchema,
    `SELECT v.* FROM package_versions v
      WHERE v.package_id = :id AND v.subject = :subject AND v.deleted_at IS NULL ORDER BY v.created_at, v.id`,
    { id, subject },
  );

/** Inside a write: whether a package has a version. */
export const hasVersion = async (manager: EntityManager, packageId: string, versionKey: string): Promise<boolean> =>
  (await manager.findOneBy(packageVersionSchema, { packageId, versionKey }))?.deletedAt === null;

/** The version name of each tag. */
export async function tagsByName(deps: Deps, found: Found): Promise<Record<string, string>> {
  const rows: { name: string; version: string }[] = await deps.db.read.query(
    `SELECT t.name, v.version FROM package_tags t JOIN package_versions v ON v.id = t.version_id
      WHERE t.package_id = ? AND v.deleted_at IS NULL ORDER BY t.name`,
    [found.package.id],
  );
  return Object.fromEntries(rows.map(({ name, version }) => [name, version]));
}

/** The key of a requested version. Throws `package_version_not_found` for an invalid one. */
export function keyOfVersion(format: FormatName, version: string): string {
  try {
    return formatOf(format).versionKey(version);
  } catch (error) {
    throw isDomainError(error) ? versionNotFound() : error;
  }
}
