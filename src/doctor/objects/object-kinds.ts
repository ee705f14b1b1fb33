import { artifactKey, artifactPrefix, logKey, logPrefix } from '../../ci/index.ts';
import { imageKey, imagePrefix } from '../../images/index.ts';
import { attachmentKey, attachmentPrefix } from '../../issues/index.ts';
import { packageBlobKey, packageBlobPrefix, packageChunkKey, packageChunkPrefix } from '../../packages/index.ts';
import { lfsKey, lfsPrefix } from '../../lfs/index.ts';
import type { ObjectKind } from '../../objects/index.ts';
import { releaseFileKey, releaseFilePrefix } from '../../releases/index.ts';

/** Images have other names in a folder: one file per owner, which is replaced. */
interface ImageKind extends ObjectKind {
  image: 'avatars' | 'repositories' | 'trash';
}

export const imageKinds: readonly ImageKind[] = [
  {
    name: 'avatars',
    image: 'avatars',
    prefix: imagePrefix('avatars'),
    sql: 'SELECT owner_id AS at, updated_at AS stamp FROM avatars WHERE owner_id > ? ORDER BY owner_id LIMIT ?',
    start: '',
    objectsOf: ({ at, stamp }) => [{ key: imageKey('avatars', String(at), Number(stamp)), bytes: null, sha256: null }],
  },
  ...(['repositories', 'trash'] as const).map(
    (image): ImageKind => ({
      name: image === 'trash' ? 'images of deleted repositories' : 'images of repositories',
      image,
      prefix: imagePrefix(image),
      sql: `SELECT id AS at, image_updated_at AS stamp FROM repositories
             WHERE id > ? AND image_updated_at IS NOT NULL AND deleted_at IS ${image === 'trash' ? 'NOT ' : ''}NULL
             ORDER BY id LIMIT ?`,
      start: '',
      objectsOf: ({ at, stamp }) => [{ key: imageKey(image, String(at), Number(stamp)), bytes: null, sha256: null }],
    }),
  ),
];

/** Kinds of objects besides images, in the order of copies: small and valuable ones first. */
export const fileKinds: readonly ObjectKind[] = [
  {
    name: 'attachments',
    prefix: attachmentPrefix,
    sql: 'SELECT id AS at, bytes, sha256 FROM attachments WHERE id > ? ORDER BY id LIMIT ?',
    start: '',
    objectsOf: ({ at, bytes, sha256 }) => [
      { key: attachmentKey(String(at)), bytes: Number(bytes), sha256: String(sha256) },
    ],
  },
  {
    name: 'release files',
    prefix: releaseFilePrefix,
    sql: 'SELECT id AS at, bytes, sha256 FROM release_files WHERE id > ? ORDER BY id LIMIT ?',
    start: '',
    objectsOf: ({ at, bytes, sha256 }) => [
      { key: releaseFileKey(String(at)), bytes: Number(bytes), sha256: String(sha256) },
    ],
  },
  {
    name: 'LFS objects',
    prefix: lfsPrefix,
    sql: 'SELECT repository_id AS at FROM lfs_repositories WHERE repository_id > ? ORDER BY repository_id LIMIT ?',
    start: '',
    inner: 'SELECT oid, bytes FROM lfs_objects WHERE repository_id = ? AND removing_at IS NULL ORDER BY oid',
    objectsOf: ({ at }, inner) =>
      inner.map(({ oid, bytes }) => ({
        key: lfsKey(String(at), String(oid)),
        bytes: Number(bytes),
        sha256: String(oid),
      })),
  },
  {
    name: 'packages',
    prefix: packageBlobPrefix,
    sql: 'SELECT owner_id AS at FROM package_usage WHERE owner_id > ? ORDER BY owner_id LIMIT ?',
    start: '',
    inner: 'SELECT sha256, bytes, object_name FROM package_blobs WHERE owner_id = ? ORDER BY sha256',
    objectsOf: ({ at }, inner) =>
      inner.map(({ sha256, bytes, object_name: name }) => ({
        key: packageBlobKey({
          ownerId: String(at),
          sha256: String(sha256),
          objectName: name == null ? null : String(name),
        }),
        bytes: Number(bytes),
        sha256: String(sha256),
      })),
  },
  {
    name: 'uploads of packages',
    prefix: packageChunkPrefix,
    sql: `SELECT object_id AS at, bytes, sha256 FROM package_upload_chunks
           WHERE object_id > ? ORDER BY object_id LIMIT ?`,
    start: '',
    objectsOf: ({ at, bytes, sha256 }) => [
      { key: packageChunkKey(String(at)), bytes: Number(bytes), sha256: String(sha256) },
    ],
  },
  {
    name: 'artifacts',
    prefix: artifactPrefix,
    sql: "SELECT id AS at, form, file, size_bytes AS bytes, digest FROM ci_artifacts WHERE id > ? AND state = 'ready' ORDER BY id LIMIT ?",
    start: 0,
    inner:
      'SELECT file, stored_bytes AS bytes FROM ci_artifact_files WHERE artifact_id = ? AND received_bytes = stored_bytes ORDER BY path',
    objectsOf: ({ form, file, bytes, digest }, inner) =>
      form === 'zip'
        ? [{ key: artifactKey(String(file)), bytes: Number(bytes), sha256: digest === null ? null : String(digest) }]
        : inner.map((one) => ({
            key: artifactKey(`${String(file)}/${String(one['file'])}`),
            bytes: Number(one['bytes']),
            sha256: null,
          })),
  },
  {
    name: 'logs',
    prefix: logPrefix,
    sql: `SELECT id AS at, log_bytes AS bytes FROM ci_tasks
           WHERE id > ? AND sealed_at IS NOT NULL AND log_removed_at IS NULL AND log_rows > 0 ORDER BY id LIMIT ?`,
    start: 0,
    objectsOf: ({ at, bytes }) => [{ key: logKey(Number(at)), bytes: Number(bytes), sha256: null }],
  },
];

/** All kinds that are stored in a bucket, if objects are. */
export const objectKinds: readonly ObjectKind[] = [...fileKinds, ...imageKinds];
