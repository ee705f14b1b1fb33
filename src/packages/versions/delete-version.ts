import { isLocalAdministrator, personIdOf, refusalOnPackage, viewerForLog } from '../../access/index.ts';
import type { PackageAct, Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { PackageDeps, PackageEvent } from '../deps.ts';
import { errorOfRefusal, packageNotFound, versionNotFound } from '../package-errors.ts';
import { packageFacts } from '../rights/find-package.ts';
import type { FoundPackage } from '../rights/find-package.ts';
import { packageSchema, packageTagSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageRow, PackageVersionRow } from '../schema/package-schema.ts';

/** Finds the package again inside a write, from the data of that write. Refuses as `findPackage` does. */
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
  if (refusal !== null) throw errorOfRefusal(refusal, act);
  return row;
}

/**
 * Moves a version to the trash: it and its tags cannot be found until it is restored within the trash time. Throws
 * `package_not_found`, and what the access check refuses.
 */
export async function deleteVersion(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id: packageId } }: FoundPackage,
  { id }: Pick<PackageVersionRow, 'id'>,
): Promise<void> {
  const deleted = await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const row = await findPackageAgain(deps, tx, viewer, packageId, 'delete');
    const version = await manager.findOneBy(packageVersionSchema, { id, packageId });
    if (version === null || version.deletedAt !== null) throw versionNotFound();
    await trashVersion(deps, tx, viewer, row, version);
    await manager.update(packageSchema, { id: packageId }, { updatedAt: now });
    return { row, version };
  });
  deps.logger.info('package.deleted', describe(deleted.row, deleted.version, viewer));
}

/** Inside a write that has checked access: moves a version to the trash and notifies listeners. */
export async function trashVersion(
  deps: PackageDeps,
  tx: Tx,
  viewer: Viewer,
  row: PackageRow,
  version: PackageVersionRow,
): Promise<void> {
  const deletedBy = isLocalAdministrator(viewer) ? null : personIdOf(viewer);
  const change = { deletedAt: tx.now, deletedBy, updatedAt: tx.now };
  await tx.manager.update(packageVersionSchema, { id: version.id }, change);
  await announce(deps, tx, viewer, row, version, 'deleted');
}

/** Notifies the listeners of a version's event, inside the write that causes it. */
export async function announce(
  { listeners }: Pick<PackageDeps, 'listeners'>,
  tx: Tx,
  viewer: Viewer,
  row: PackageRow,
  version: PackageVersionRow,
  action: PackageEvent['action'],
): Promise<void> {
  const owner = { id: row.ownerId, kind: row.ownerKind };
  const named =
    row.format !== 'oci' || listeners.length === 0
      ? []
      : await tx.manager.find(packageTagSchema, { where: { versionId: version.id }, order: { name: 'ASC' } });
  const tags = named.map(({ name }) => name);
  for (const listener of listeners)
    await listener(tx, { action, owner, package: row, version, tags, actorId: personIdOf(viewer) });
}

/** Limit of versions that one write moves to the trash. */
const atOnce = 200;

/** Deletes all versions of a package, each as `deleteVersion` does. @returns number of versions */
export async function deletePackage(deps: PackageDeps, viewer: Viewer, found: FoundPackage): Promise<number> {
  const packageId = found.package.id;
  let deleted = 0;
  for (let batch = atOnce; batch === atOnce; ) {
    const { row, versions } = await deps.db.write(async (tx) => {
      const row = await findPackageAgain(deps, tx, viewer, packageId, 'delete');
      const versions = await tx.manager
        .createQueryBuilder(packageVersionSchema, 'v')
        .where('v.package_id = :packageId AND v.deleted_at IS NULL', { packageId })
        .orderBy('v.created_at', 'DESC')
        .limit(atOnce)
        .getMany();
      for (const version of versions) await trashVersion(deps, tx, viewer, row, version);
      await tx.manager.update(packageSchema, { id: packageId }, { updatedAt: tx.now });
      return { row, versions };
    });
    for (const version of versions) deps.logger.info('package.deleted', describe(row, version, viewer));
    batch = versions.length;
    deleted += batch;
  }
  return deleted;
}

/**
 * Deletes the target of a reference: a version, or only the tag of an image if other tags reference the same version.
 * Refuses as `deleteVersion` does.
 * @returns whether the version is in the trash
 */
export async function deleteReference(
  deps: PackageDeps,
  viewer: Viewer,
  found: FoundPackage,
  { version, tag }: { version: PackageVersionRow; tag: string | null },
): Promise<boolean> {
  const others = tag === null ? 0 : await deps.db.read.countBy(packageTagSchema, { versionId: version.id });
  if (tag !== null && others > 1) await deleteTag(deps, viewer, found, tag);
  else await deleteVersion(deps, viewer, found, version);
  return tag === null || others <= 1;
}

/** Restores a deleted version, with the tags that still reference it. Throws `package_version_not_found`. */
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
    await announce(deps, tx, viewer, row, version, 'created');
    return { row, version };
  });
  deps.logger.info('package.restored', describe(restored.row, restored.version, viewer));
}

/** Removes a tag. Throws `package_version_not_found`. */
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

/** Sets a tag to an existing version. Throws `package_version_not_found`. */
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

/** Changes the metadata of a version: a yanked crate, a deprecated version. Throws `package_version_not_found`. */
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
  by: viewerForLog(viewer),
});
