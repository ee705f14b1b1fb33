import { refusalOnPackage, viewerForLog } from '../../access/index.ts';
import type { Viewer, Visibility } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import { repositoryById } from '../../repositories/index.ts';
import type { PackageDeps } from '../deps.ts';
import { errorOfRefusal } from '../package-errors.ts';
import { packageSchema } from '../schema/package-schema.ts';
import type { PackageRow } from '../schema/package-schema.ts';
import { followed } from '../rights/find-package.ts';
import type { FoundPackage } from '../rights/find-package.ts';
import { findPackageAgain } from '../versions/delete-version.ts';

type At = Pick<FoundPackage, 'package'>;

/**
 * Links a package to a repository of its owner, from which it inherits access from now on. Throws `package_denied`,
 * `package_scope` for users who do not administer the package; `repository_not_found` for a repository that is absent,
 * hidden or of another owner, and `package_denied` without write access to it; `package_linked` if it is already linked
 * to it.
 */
export async function linkPackage(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id }, owner }: FoundPackage,
  name: string,
): Promise<PackageRow> {
  const { repository } = await deps.repositories.find(viewer, owner.handle, name);
  const linked = await deps.db.write(async (tx) => {
    const row = await findPackageAgain(deps, tx, viewer, id, 'manage');
    await refuseTarget(deps, tx, viewer, row, repository.id);
    if (row.repositoryId === repository.id)
      throw conflict('package_linked', `This package is already linked to ${repository.name}.`);
    return change(tx, row, { repositoryId: repository.id, visibility: 'PRIVATE' });
  });
  deps.logger.info('package.linked', { ...described(linked), repositoryId: repository.id, by: viewerForLog(viewer) });
  return linked;
}

async function refuseTarget(
  deps: PackageDeps,
  { manager }: Tx,
  viewer: Viewer,
  { ownerId, ownerKind }: PackageRow,
  repositoryId: string,
): Promise<void> {
  const repository = await repositoryById(manager, repositoryId);
  const facts = await followed(deps, manager, viewer, ownerId, repository);
  const owner = { kind: ownerKind, id: ownerId, role: null };
  const refusal =
    facts === null ? 'level' : refusalOnPackage(viewer, { owner, visibility: 'PRIVATE', repository: facts }, 'publish');
  if (refusal !== null) throw errorOfRefusal(refusal, 'publish');
}

/**
 * Removes the link of a package to its repository: it is private afterwards, until its visibility is changed. Throws
 * `package_denied`, `package_scope`, and `package_not_linked`.
 */
export async function unlinkPackage(deps: PackageDeps, viewer: Viewer, { package: { id } }: At): Promise<PackageRow> {
  const { before, row } = await deps.db.write(async (tx) => {
    const before = await findPackageAgain(deps, tx, viewer, id, 'manage');
    if (before.repositoryId === null)
      throw conflict('package_not_linked', 'This package is not linked to a repository.');
    return { before, row: await change(tx, before, { repositoryId: null, visibility: 'PRIVATE' }) };
  });
  deps.logger.info('package.unlinked', {
    ...described(row),
    repositoryId: before.repositoryId,
    by: viewerForLog(viewer),
  });
  return row;
}

/**
 * Sets the visibility of an unlinked package. Throws `package_denied`, `package_scope`, and `package_follows` for a
 * linked one.
 */
export async function setPackageVisibility(
  deps: PackageDeps,
  viewer: Viewer,
  { package: { id } }: At,
  visibility: Visibility,
): Promise<PackageRow> {
  const row = await deps.db.write(async (tx) => {
    const found = await findPackageAgain(deps, tx, viewer, id, 'manage');
    if (found.repositoryId !== null)
      throw conflict('package_follows', 'This package follows its repository. Unlink it first.');
    return change(tx, found, { visibility });
  });
  deps.logger.info('package.visibility_changed', { ...described(row), visibility, by: viewerForLog(viewer) });
  return row;
}

async function change({ manager, now }: Tx, row: PackageRow, changes: Partial<PackageRow>): Promise<PackageRow> {
  const changed = { ...changes, updatedAt: now };
  await manager.update(packageSchema, { id: row.id }, changed);
  return { ...row, ...changed };
}

const described = ({ id, format, name }: PackageRow) => ({ packageId: id, format, name });
