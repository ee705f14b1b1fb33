import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { claimBlobs } from '../blobs/store-blob.ts';
import type { ContentHashes } from '../blobs/store-blob.ts';
import type { PackageDeps } from '../deps.ts';
import { formatOf } from '../formats/formats.ts';
import { fileExists } from './change-files.ts';
import { announce } from './delete-version.ts';
import { versionExists } from '../package-errors.ts';
import { findSource, followSource, packageForPublish } from '../rights/find-package.ts';
import type { PublishTarget } from '../rights/find-package.ts';
import type { RepositoryAddress } from '../../repositories/index.ts';
import { packageFileSchema, packageSchema, packageTagSchema, packageVersionSchema } from '../schema/package-schema.ts';
import type { PackageFileRow, PackageRow, PackageVersionRow } from '../schema/package-schema.ts';

/** A file whose content is stored as a blob of the owner. */
export interface NewFile {
  name: string;
  /** Its unique key in its version; the name if omitted. */
  key?: string;
  sha256: string;
  bytes: number;
  hashes?: ContentHashes | null;
  mediaType?: string | null;
  metadata?: unknown;
}

interface NewVersion {
  version: string;
  /** Stored as JSON, in a form that the format defines. */
  metadata: unknown;
  /** Digest of the manifest that this one is about. */
  subject?: string | null;
  files: readonly NewFile[];
  /** Tags to move to this version. */
  tags?: readonly string[];
  /**
   * Behaviour if the version exists: `refuse` it; `add` the files, of which none may exist; `keep` it, because its name
   * is its content, and move the tags.
   */
  existing: 'refuse' | 'add' | 'keep';
  /** Files that replace those of the same name instead of being refused. */
  replaces?: boolean;
  /** The source repository according to the publisher: an unlinked package is linked to it. */
  source?: RepositoryAddress | null;
  /** Called inside the write, before anything is stored. */
  check?: (tx: Tx, row: PackageRow) => Promise<void>;
}

/**
 * Publishes a version, or adds files to one: in one write, after its content is stored. Permanently deletes the same
 * version in the trash, except a manifest, which is restored.
 *
 * Throws `package_version_exists`, `package_file_exists`, `package_blob_missing`, `invalid_package_version`, and what
 * `openForPublish` refuses, checked again.
 */
export async function publishVersion(
  deps: PackageDeps,
  viewer: Viewer,
  target: PublishTarget,
  input: NewVersion,
): Promise<{ package: PackageRow; version: PackageVersionRow }> {
  const versionKey = formatOf(target.format).versionKey(input.version);
  const source = input.source == null ? null : await findSource(deps, viewer, input.source);
  const published = await deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const found = await packageForPublish(deps, tx, viewer, target);
    const row = source === null ? found : await followSource(deps, tx, viewer, found, source);
    await input.check?.(tx, row);
    await claimBlobs(
      tx,
      row.ownerId,
      input.files.map(({ sha256 }) => sha256),
    );
    const present = await presentVersion(tx, row, versionKey, input);
    const version = present ?? (await insertVersion(deps, tx, viewer, row, versionKey, input));
    const bytes = present === null || input.existing === 'add' ? await addFiles(deps, tx, row, version, input) : 0;
    if (bytes > 0) await manager.update(packageVersionSchema, { id: version.id }, { bytes: version.bytes + bytes });
    let moved = 0;
    for (const name of input.tags ?? []) {
      const tag = await manager.findOneBy(packageTagSchema, { packageId: row.id, name });
      if (tag?.versionId !== version.id) moved += 1;
      await manager.upsert(packageTagSchema, { packageId: row.id, name, versionId: version.id, updatedAt: now }, [
        'packageId',
        'name',
      ]);
    }
    await manager.update(packageSchema, { id: row.id }, { updatedAt: now });
    // Readers of images regard a tag as a version.
    if (present === null || (moved > 0 && row.format === 'oci'))
      await announce(deps, tx, viewer, row, version, 'created');
    return { package: row, version, isNew: present === null };
  });
  if (published.isNew)
    deps.logger.info('package.published', {
      packageId: published.package.id,
      format: target.format,
      name: published.package.name,
      version: published.version.version,
      by: viewerForLog(viewer),
    });
  return published;
}

/** The existing version to keep, or null to create one. */
async function presentVersion(
  { manager, now }: Tx,
  { id: packageId }: PackageRow,
  versionKey: string,
  { existing, version, subject }: NewVersion,
): Promise<PackageVersionRow | null> {
  const found = await manager.findOneBy(packageVersionSchema, { packageId, versionKey });
  if (found === null) return null;
  if (found.deletedAt !== null) {
    // Removes its old tags: a push sets them again.
    await manager.delete(packageTagSchema, { versionId: found.id });
    if (existing !== 'keep') {
      await manager.delete(packageVersionSchema, { id: found.id });
      return null;
    }
    await manager.update(packageVersionSchema, { id: found.id }, { deletedAt: null, deletedBy: null, updatedAt: now });
    return found;
  }
  if (existing === 'refuse') throw versionExists(version);
  if (existing === 'keep')
    await manager.update(packageVersionSchema, { id: found.id }, { updatedAt: now, subject: subject ?? null });
  return found;
}

async function insertVersion(
  { random }: PackageDeps,
  { manager, now }: Tx,
  viewer: Viewer,
  { id: packageId }: PackageRow,
  versionKey: string,
  { version, metadata, subject = null }: NewVersion,
): Promise<PackageVersionRow> {
  const row: PackageVersionRow = {
    id: random.uuid(),
    packageId,
    version,
    versionKey,
    metadata: JSON.stringify(metadata),
    subject,
    bytes: 0,
    downloads: 0,
    publisherId: viewer.kind === 'person' && viewer.via !== 'local' ? viewer.id : null,
    taskId: viewer.kind === 'task' ? viewer.taskId : null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    deletedBy: null,
  };
  await manager.insert(packageVersionSchema, row);
  return row;
}

/**
 * @returns their total size
 */
async function addFiles(
  { random }: PackageDeps,
  { manager, now }: Tx,
  { id: packageId, ownerId }: PackageRow,
  { id: versionId }: PackageVersionRow,
  { files, replaces = false }: NewVersion,
): Promise<number> {
  let bytes = 0;
  for (const file of files) {
    const nameKey = file.key ?? file.name;
    const present = await manager.findOneBy(packageFileSchema, { versionId, nameKey });
    if (present !== null && !replaces) throw fileExists(file.name);
    if (present !== null) await manager.delete(packageFileSchema, { id: present.id });
    const row: PackageFileRow = {
      id: random.uuid(),
      versionId,
      packageId,
      ownerId,
      name: file.name,
      nameKey,
      sha256: file.sha256,
      bytes: file.bytes,
      sha1: file.hashes?.sha1 ?? null,
      md5: file.hashes?.md5 ?? null,
      sha512: file.hashes?.sha512 ?? null,
      mediaType: file.mediaType ?? null,
      metadata: file.metadata === undefined ? null : JSON.stringify(file.metadata),
      downloads: 0,
      createdAt: now,
    };
    await manager.insert(packageFileSchema, row);
    bytes += file.bytes - (present?.bytes ?? 0);
  }
  return bytes;
}
