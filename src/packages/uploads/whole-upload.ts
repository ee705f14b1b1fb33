import { createHash } from 'node:crypto';
import type { Viewer } from '../../access/index.ts';
import { conflict, isDomainError } from '../../kernel/index.ts';
import type { Digest } from '../blobs/blob-key.ts';
import { findNamedBlob, forgetBlobName, nameBlob } from '../blobs/named-blobs.ts';
import { claimBlobs, hashing, placeBlob, storeBlob } from '../blobs/store-blob.ts';
import type { PackageDeps } from '../deps.ts';
import { blobDamaged, blobMissing } from '../package-errors.ts';
import { packageForPublish } from '../rights/find-package.ts';
import type { FoundPackage, PublishTarget } from '../rights/find-package.ts';
import { packageBlobSchema } from '../schema/blob-schema.ts';
import { blobKey } from '../blobs/blob-key.ts';

/**
 * Stores a blob that is sent as a whole, visible in the package. Nothing else may use the chunks of its content.
 * Refuses as `storeBlob` does.
 */
export async function uploadBlob(
  deps: PackageDeps,
  viewer: Viewer,
  target: PublishTarget,
  { algorithm, hex }: Digest,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const ownerId = target.owner.id;
  const sha512 = algorithm === 'sha512' ? createHash('sha512') : null;
  const { sha256 } = await storeBlob(deps, ownerId, hashing(content, sha512 === null ? [] : [sha512]), {
    frees: true,
    ...(sha512 === null ? { expected: { sha256: hex } } : {}),
  });
  if (sha512 !== null && sha512.digest('hex') !== hex) throw blobDamaged();
  await deps.db.write(async (tx) => {
    const row = await packageForPublish(deps, tx, viewer, target);
    await claimBlobs(tx, ownerId, [sha256]);
    if (sha512 !== null) await tx.manager.update(packageBlobSchema, { ownerId, sha256 }, { sha512: hex });
    await nameBlob(tx, row.id, sha256);
  });
}

/**
 * Makes a blob of a package that the viewer can read visible in another one, without transferring its content. A blob
 * of another owner is linked in the object store. False if the source has no such blob.
 */
export async function mountBlob(
  deps: PackageDeps,
  viewer: Viewer,
  target: PublishTarget,
  source: FoundPackage,
  digest: Digest,
): Promise<boolean> {
  const blob = await findNamedBlob(deps.db.read, source.package, digest);
  if (blob === null) return false;
  const { sha256, sha512, bytes } = blob;
  try {
    await placeBlob(deps, target.owner.id, { sha256, sha512, bytes, from: blobKey(blob) }, async (tx) => {
      const row = await packageForPublish(deps, tx, viewer, target);
      await nameBlob(tx, row.id, sha256);
    });
  } catch (error) {
    if (isDomainError(error) && error.reason === 'package_blob_gone') return false;
    throw error;
  }
  return true;
}

/**
 * Removes a blob from a package. Throws `package_blob_missing`, and `package_blob_used` while a version references it.
 */
export async function removeNamedBlob(deps: PackageDeps, found: FoundPackage, digest: Digest): Promise<void> {
  await deps.db.write(async (tx) => {
    const blob = await findNamedBlob(tx.manager, found.package, digest);
    if (blob === null) throw blobMissing(`${digest.algorithm}:${digest.hex}`);
    if (!(await forgetBlobName(tx, found.package, blob.sha256)))
      throw conflict('package_blob_used', 'A manifest references this blob. Delete the manifest first.');
  });
}
