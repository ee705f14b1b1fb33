import { bindDeps } from '../kernel/index.ts';
import { keyOfBlob, openBlob, readBlob, readBlobRange, receiveBlob } from './blobs/store-blob.ts';
import { findNamedBlob, imagesWithBlob, renewNamedBlob } from './blobs/named-blobs.ts';
import type { Digest } from './blobs/blob-key.ts';
import type { PackageDeps, PackageListener } from './deps.ts';
import { formatNames } from './formats/format.ts';
import type { FormatName } from './formats/format.ts';
import { formatOf } from './formats/formats.ts';
import { keyOfVersion } from './versions/read-versions.ts';
import { catalogue, countOfRepository, countPackages, listPackages } from './lists/list-packages.ts';
import { findPackage, mayOn, openForPublish, ownerForPublish } from './rights/find-package.ts';
import { linkPackage, setPackageVisibility, unlinkPackage } from './links/link-package.ts';
import { latestOf, pageOfAllVersions, pageOfTags, tagsOfVersions, trashOfOwner } from './lists/list-versions.ts';
import { releaseOwner } from './rights/release-owner.ts';
import type { FoundPackage } from './rights/find-package.ts';
import { beginUpload, cancelUpload, findUpload, finishUpload, receiveChunk } from './uploads/chunked-upload.ts';
import { mountBlob, removeNamedBlob, uploadBlob } from './uploads/whole-upload.ts';
import { collectPackages } from './collection/collect-garbage.ts';
import { DownloadCounter } from './collection/download-counter.ts';
import {
  changeMetadata,
  deletePackage,
  deleteReference,
  deleteTag,
  deleteVersion,
  moveTag,
  restoreVersion,
} from './versions/delete-version.ts';
import { deleteFile, refuseFile, refuseVersion } from './versions/change-files.ts';
import {
  applyAllRetention,
  applyRetention,
  ownerRetention,
  previewRetention,
  retentionOf,
  setOwnerRetention,
  setRetention,
} from './retention/retention.ts';
import { publishVersion } from './versions/publish-version.ts';
import {
  allFiles,
  allVersions,
  filesOf,
  findFile,
  findVersion,
  pageOfVersions,
  referrersOf,
  tagsByName,
  tagsOf,
  tagsOfVersion,
  trashedVersion,
  versionNamed,
  versionOfTag,
} from './versions/read-versions.ts';

/**
 * Packages of users and organisations, in every format: permissions, versions and their files, content by digest. The
 * functions behind these names document their errors. The protocols of the formats are in `http-packages`.
 */
export function createPackages(tools: Omit<PackageDeps, 'listeners'>) {
  const deps: PackageDeps = { ...tools, listeners: [] };
  const downloads = new DownloadCounter();
  const bind = bindDeps(deps);
  return {
    find: bind(findPackage),
    openForPublish: bind(openForPublish),
    ownerForPublish: bind(ownerForPublish),
    /** The same for requests of clients: an invalid version counts as absent. */
    keyOfVersion: keyOfVersion,
    /** Throws `invalid_package_version`. */
    checkVersion: (format: FormatName, version: string): string => formatOf(format).versionKey(version),
    list: bind(listPackages),
    count: bind(countPackages),
    catalogue: bind(catalogue),
    /** For the tab of a repository. */
    countOf: bind(countOfRepository),
    /** The acts that the viewer may perform on a package. */
    mayOn,
    link: bind(linkPackage),
    unlink: bind(unlinkPackage),
    setVisibility: bind(setPackageVisibility),
    delete: bind(deletePackage),
    trashOf: bind(trashOfOwner),
    releaseOwner,

    versions: {
      publish: bind(publishVersion),
      refuseFile: bind(refuseFile),
      refuseVersion: bind(refuseVersion),
      find: bind(findVersion),
      ofTag: bind(versionOfTag),
      all: bind(allVersions),
      /** Across several packages. */
      list: bind(pageOfAllVersions),
      latest: bind(latestOf),
      named: bind(versionNamed),
      trashed: bind(trashedVersion),
      page: bind(pageOfVersions),
      referrers: bind(referrersOf),
      changeMetadata: bind(changeMetadata),
      delete: bind(deleteVersion),
      deleteReference: bind(deleteReference),
      restore: bind(restoreVersion),
      /** Counts a started download. */
      countDownload: (versionId: string): void => downloads.add(versionId),
    },
    tags: {
      list: bind(tagsOf),
      byName: bind(tagsByName),
      ofVersion: bind(tagsOfVersion),
      ofVersions: bind(tagsOfVersions),
      page: bind(pageOfTags),
      move: bind(moveTag),
      delete: bind(deleteTag),
    },
    files: { all: bind(allFiles), ofVersion: bind(filesOf), find: bind(findFile), delete: bind(deleteFile) },
    blobs: {
      receive: bind(receiveBlob),
      open: bind(openBlob),
      keyOf: bind(keyOfBlob),
      content: bind(readBlob),
      range: bind(readBlobRange),
      find: ({ package: named }: FoundPackage, digest: Digest) =>
        findNamedBlob(deps.db.read, named, digest, deps.db.lookup),
      renew: ({ package: named }: FoundPackage, digest: Digest) => renewNamedBlob(deps, named, digest),
      imagesWith: bind(imagesWithBlob),
      upload: bind(uploadBlob),
      mount: bind(mountBlob),
      remove: bind(removeNamedBlob),
    },
    uploads: {
      begin: bind(beginUpload),
      find: bind(findUpload),
      receive: bind(receiveChunk),
      finish: bind(finishUpload),
      cancel: bind(cancelUpload),
    },

    retention: {
      set: bind(setRetention),
      /** The rules of a package. */
      of: bind(retentionOf),
      preview: bind(previewRetention),
      ofOwner: bind(ownerRetention),
      setOfOwner: bind(setOwnerRetention),
      apply: bind(applyRetention),
      /** For a scheduled task and `hearth package retention --apply`. */
      applyAll: bind(applyAllRetention),
    },

    /** For a scheduled task and `hearth package gc`. */
    collect: bind(collectPackages),
    /** For a scheduled task, and before the database closes. */
    saveDownloads: () => downloads.flush(deps),
    /** Registers a listener of events. */
    onEvent: (listener: PackageListener): void => void deps.listeners.push(listener),
    settings: deps.settings,
    /** For commands, whose help must not load this module. */
    formats: formatNames,
  };
}

export type Packages = ReturnType<typeof createPackages>;
