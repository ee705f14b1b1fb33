import { isLocalAdministrator, personIdOf, refusalOnPackage } from '../../access/index.ts';
import type { PackageAct, Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { PackageDeps } from '../deps.ts';
import { errorOfRefusal, packageNotFound, versionNotFound } from '../package-errors.ts';
import { packageFacts } from '../rights/find-package.ts';
import type { FoundPackage } from '../rights/find-package.ts';
import { packageSchema, packageTagSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageRow, PackageVersionRow } from '../schema/package-schema.ts';

/** The package again inside a write, by what the write sees. Refuses as `findPackage` does. */
export async function findPackageAgain(
  deps: PackageDeps,
  { manager }: Tx,
  viewer: Viewer,
  packageId: string,
  act: PackageAct,
): Promise<PackageRow> {
  const row = await manager.findOneBy(packageSchema, { id: packageId });
  if (row === null) throw packageNotFound();
  const refusal = refusalOnPackage(viewer, await packageFacts(deps, manager, viewer, row), act);
  if (refusal !== null) throw errorOfRefusal(refusal, 'change');
  return row;
}

/**
 * Deletes a version: it is absent from now on, its tags name nothing, and it can be restored within the trash time.
 * Refuses `package_not_found`, and what the rights refuse.
 */
export async function deleteVersion(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId }, owner }: FoundPackage,
  { id }: Pick<PackageVersionRow, 'id'>,
): Promise<void> {
  const deleted = await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const row = await findPackageAgain(deps, tx, viewer, packageId, 'delete');
    const version = await manager.findOneBy(packageVersionSchema, { id, packageId });
    if (version === null || version.deletedAt !== null) throw versionNotFound();
    const deletedBy = isLocalAdministrator(viewer) ? null : personIdOf(viewer);
    await manager.update(packageVersionSchema, { id }, { deletedAt: now, deletedBy, updatedAt: now });
    await manager.update(packageSchema, { id: packageId }, { updatedAt: now });
    for (const listener of deps.listeners)
      await listener(tx, {
        action: 'deleted',
        owner: { id: owner.id, kind: owner.kind },
        package: row,
        version,
        actorId: personIdOf(viewer),
      });
    return { row, version };
  });
  deps.logger.info('package.deleted', describe(deleted.row, deleted.version, viewer));
}

/** Brings a deleted version back, with the tags that still name it. Refuses `package_version_not_found`. */
export async function restoreVersion(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId } }: FoundPackage,
  { id }: Pick<PackageVersionRow, 'id'>,
): Promise<void> {
  const restored = await deps.db.write(async (tx) => {
    const row = await findPackageAgain(deps, tx, viewer, packageId, 'delete');
    const version = await tx.manager.findOneBy(packageVersionSchema, { id, packageId });
    if (version === null) throw versionNotFound();
    if (version.deletedAt === null) throw conflict('package_not_deleted', 'This version is not in the trash.');
    await tx.manager.update(packageVersionSchema, { id }, { deletedAt: null, deletedBy: null, updatedAt: tx.now });
    await tx.manager.update(packageSchema, { id: packageId }, { updatedAt: tx.now });
    return { row, version };
  });
  deps.logger.info('package.restored', describe(restored.row, restored.version, viewer));
}

/** Takes a tag away. Refuses `package_version_not_found`. */
export async function deleteTag(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId } }: FoundPackage,
  name: string,
  act: PackageAct = 'delete',
): Promise<void> {
  await deps.db.write(async (tx) => {
    await findPackageAgain(deps, tx, viewer, packageId, act);
    const { affected } = await tx.manager.delete(packageTagSchema, { packageId, name });
    if (affected === 0) throw versionNotFound();
    await tx.manager.update(packageSchema, { id: packageId }, { updatedAt: tx.now });
  });
}

/** Gives a tag to a version that exists. Refuses `package_version_not_found`. */
export async function moveTag(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId } }: FoundPackage,
  name: string,
  versionKey: string,
): Promise<void> {
  await deps.db.write(async (tx) => {
    await findPackageAgain(deps, tx, viewer, packageId, 'publish');
    const version = await tx.manager.findOneBy(packageVersionSchema, { packageId, versionKey });
    if (version === null || version.deletedAt !== null) throw versionNotFound();
    const row = { packageId, name, versionId: version.id, updatedAt: tx.now };
    await tx.manager.upsert(packageTagSchema, row, ['packageId', 'name']);
    await tx.manager.update(packageSchema, { id: packageId }, { updatedAt: tx.now });
  });
}

/** Changes the metadata of a version: a yanked crate, a deprecated version. Refuses `package_version_not_found`. */
export async function changeMetadata(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId } }: FoundPackage,
  versionKey: string,
  change: (metadata: Record<string, unknown>) => unknown,
): Promise<void> {
  await deps.db.write(async (tx) => {
    await findPackageAgain(deps, tx, viewer, packageId, 'publish');
    const version = await tx.manager.findOneBy(packageVersionSchema, { packageId, versionKey });
    if (version === null || version.deletedAt !== null) throw versionNotFound();
    const metadata = JSON.stringify(change(JSON.parse(version.metadata) as Record<string, unknown>));
    await tx.manager.update(packageVersionSchema, { id: version.id }, { metadata, updatedAt: tx.now });
    await tx.manager.update(packageSchema, { id: packageId }, { updatedAt: tx.now });
  });
}

const describe = (row: PackageRow, { version }: PackageVersionRow, viewer: Viewer) => ({
  packageId: row.id,
  format: row.format,
  name: row.name,
  version,
  by: viewer.kind === 'task' ? `task ${viewer.taskId}` : personIdOf(viewer),
});
