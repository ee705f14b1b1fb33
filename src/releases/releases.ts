import { bindDeps } from '../kernel/index.ts';
import type { Viewer } from '../access/index.ts';
import type { ReleaseDeps, ReleaseListener } from './deps.ts';
import { uploadFile } from './files/add-files.ts';
import { removeFile, renameFile } from './files/change-file.ts';
import { DownloadCounter } from './files/download-counter.ts';
import { findFile, readFile } from './files/open-file.ts';
import { discardFiles, receiveFile } from './files/receive-file.ts';
import { removeOrphans } from './files/remove-orphans.ts';
import { findRelease, latestOf, rightsIn } from './find-release.ts';
import type { ReleaseKey, RepositoryAt } from './find-release.ts';
import { createRelease } from './lifecycle/create-release.ts';
import { deleteRelease } from './lifecycle/delete-release.ts';
import { editRelease } from './lifecycle/edit-release.ts';
import { unpublishOnTagDeletion } from './lifecycle/on-push.ts';
import { countReleases, describeReleases, releasedTags } from './lists/describe-releases.ts';
import type { DescribedRelease } from './lists/describe-releases.ts';
import { listReleases, listReleasesByPage } from './lists/list-releases.ts';
import { generateNotes } from './notes/generate-notes.ts';
import { cleanFileName } from './transfer/clean-texts.ts';
import { storeForeignFile, storeForeignRelease } from './transfer/import-foreign.ts';
import type { Repository } from '../repositories/index.ts';
import type { ReleaseSource } from './transfer/import-releases.ts';
import type { ExportedRelease } from './transfer/export-format.ts';
import type { WrittenFile } from './transfer/export-releases.ts';
import { defaultReleaseSettings } from './settings.ts';
import type { ReleaseSettings } from './settings.ts';

interface ReleasesOptions extends Omit<ReleaseDeps, 'settings' | 'listeners'> {
  settings?: Partial<ReleaseSettings>;
}

/** Releases and their files; each function documents its errors. */
export function createReleases({ settings, ...tools }: ReleasesOptions) {
  const deps: ReleaseDeps = { ...tools, settings: { ...defaultReleaseSettings, ...settings }, listeners: [] };
  const downloads = new DownloadCounter();
  const bind = bindDeps(deps);

  return {
    list: bind(listReleases),
    listByPage: bind(listReleasesByPage),
    async find(viewer: Viewer, at: RepositoryAt, key: ReleaseKey): Promise<DescribedRelease> {
      const { release } = await findRelease(deps, viewer, at, key);
      return (await describeReleases(deps, [release]))[0]!;
    },
    describe: bind(describeReleases),
    /** For the list of tags. */
    releasedTags: bind(releasedTags),
    latestOf: bind(latestOf),
    /** For the tab on every page of a repository. */
    count: bind(countReleases),
    rightsIn: bind(rightsIn),
    create: bind(createRelease),
    edit: bind(editRelease),
    delete: bind(deleteRelease),
    generateNotes: bind(generateNotes),

    files: {
      receive: bind(receiveFile),
      discard: bind(discardFiles),
      upload: bind(uploadFile),
      rename: bind(renameFile),
      remove: bind(removeFile),
      find: bind(findFile),
      read: bind(readFile),
      /** Counts the start of a download. */
      countDownload: (fileId: string): void => downloads.add(fileId),
      /** Size limit of a file in bytes. */
      maxBytes: deps.settings.fileBytes,
    },

    /** For imports from other forges. */
    foreign: { store: bind(storeForeignRelease), storeFile: bind(storeForeignFile), fileName: cleanFileName },
    /** For export bundles; loaded on first use, because the parser of the format takes a while to load. */
    bundles: {
      async *export(repositoryId: string): AsyncGenerator<WrittenFile> {
        yield* (await import('./transfer/export-releases.ts')).exportReleases(deps, repositoryId);
      },
      read: async (source: ReleaseSource): Promise<ExportedRelease[]> =>
        (await import('./transfer/import-releases.ts')).readReleases(source),
      import: async (
        ...given: [
          repository: Pick<Repository, 'id'>,
          releases: readonly ExportedRelease[],
          source: ReleaseSource,
          refs: ReadonlyMap<string, string>,
        ]
      ): Promise<void> => (await import('./transfer/import-releases.ts')).importReleases(deps, ...given),
    },

    /** Registers a listener for events. */
    onEvent: (listener: ReleaseListener): void => void deps.listeners.push(listener),
    /** Listener for `repositories.pushes.onPush`. */
    onPush: unpublishOnTagDeletion(deps),
    /** Scheduled task. */
    removeOrphans: bind(removeOrphans),
    /** Called by a scheduled task, and before the database closes. */
    saveDownloads: () => downloads.flush(deps),
  };
}

export type Releases = ReturnType<typeof createReleases>;
