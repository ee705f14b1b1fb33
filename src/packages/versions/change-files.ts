import type { Viewer } from '../../access/index.ts';
import { rowBy } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { PackageDeps } from '../deps.ts';
import { formatOf } from '../formats/formats.ts';
import { versionExists, versionNotFound } from '../package-errors.ts';
import type { FoundPackage, PublishTarget } from '../rights/find-package.ts';
import { packageFileSchema, packageSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageFileRow } from '../schema/package-schema.ts';
import { findPackageAgain } from './delete-version.ts';

export const fileExists = (name: string) =>
  conflict('package_file_exists', `File ${name} already exists; a published file is never replaced.`);

/** Called before content is read: refuses `package_file_exists` if the version already has the file. */
export async function refuseFile(
  { db }: Pick<PackageDeps, 'db'>,
  { owner, format, nameKey }: PublishTarget,
  version: string,
  fileKey: string,
): Promise<void> {
  const found = await rowBy(db.lookup, packageSchema, { ownerId: owner.id, format, nameKey });
  if (found === null) return;
  const versionKey = formatOf(format).versionKey(version);
  const row = await rowBy(db.lookup, packageVersionSchema, { packageId: found.id, versionKey });
  if (row === null || row.deletedAt !== null) return;
  if ((await rowBy(db.lookup, packageFileSchema, { versionId: row.id, nameKey: fileKey })) !== null)
    throw fileExists(fileKey);
}

/** Called before content is read: refuses `package_version_exists`. */
export async function refuseVersion(
  { db }: Pick<PackageDeps, 'db'>,
  { owner, format, nameKey }: PublishTarget,
  version: string,
): Promise<void> {
  const found = await rowBy(db.lookup, packageSchema, { ownerId: owner.id, format, nameKey });
  if (found === null) return;
  const versionKey = formatOf(format).versionKey(version);
  const row = await rowBy(db.lookup, packageVersionSchema, { packageId: found.id, versionKey });
  if (row !== null && row.deletedAt === null) throw versionExists(version);
}

/** Permanently removes a file; with its last file, a version moves to the trash. */
export async function deleteFile(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId } }: FoundPackage,
  { id, versionId }: Pick<PackageFileRow, 'id' | 'versionId'>,
): Promise<void> {
  const removed = await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const row = await findPackageAgain(deps, tx, viewer, packageId, 'delete');
    const file = await manager.findOneBy(packageFileSchema, { id, versionId, packageId });
    const version = await manager.findOneBy(packageVersionSchema, { id: versionId, packageId });
    if (file === null || version === null || version.deletedAt !== null) throw versionNotFound();
    const isLast = (await manager.countBy(packageFileSchema, { versionId })) === 1;
    if (isLast) await manager.update(packageVersionSchema, { id: versionId }, { deletedAt: now, updatedAt: now });
    else {
      await manager.delete(packageFileSchema, { id });
      await manager.update(
        packageVersionSchema,
        { id: versionId },
        { bytes: version.bytes - file.bytes, updatedAt: now },
      );
    }
    await manager.update(packageSchema, { id: packageId }, { updatedAt: now });
    return { format: row.format, name: row.name, version: version.version, file: file.name };
  });
  deps.logger.info('package.file_deleted', { packageId, ...removed });
}
