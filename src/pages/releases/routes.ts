import type { PageRoute, Route } from '../app/route.ts';
import { confirmReleaseDeletion, deleteRelease } from './delete-release.page.ts';
import { downloadFile, downloadLatest } from './download.page.ts';
import { createRelease, editRelease, removeReleaseFile, showEditRelease, showNewRelease } from './release-form.page.ts';
import { goToLatest, showReleaseFeed, showRelease, showReleases } from './releases.page.ts';

const at = '/repos/:owner/:name/releases';

/** A text of 64 KiB, percent-encoded, or files, whose upload takes long. */
const withFiles = { takesReleaseFiles: true, maxFormBytes: 256 * 1024, cost: 'transfer' } as const;
const read = { method: 'GET', access: 'repository:read', cost: 'objects' } as const;
const edit = { access: 'repository:write', cost: 'objects' } as const;

/** Releases, and their files at the same paths as on Gitea and GitHub. */
export const releasesRoutes: readonly Route[] = [
  { ...read, path: at, page: showReleases },
  { ...read, path: `${at}.atom`, page: showReleaseFeed },
  { ...read, path: `${at}/latest`, page: goToLatest },
  { ...read, path: `${at}/latest/download/:file`, page: downloadLatest, takesTokens: true },
  { ...read, path: `${at}/tag/*tag`, page: showRelease },
  { ...read, cost: 'transfer', path: `${at}/download/*file`, page: downloadFile, takesTokens: true },
  { ...edit, method: 'GET', path: `${at}/new`, page: showNewRelease },
  { ...edit, method: 'POST', path: `${at}/new`, page: createRelease, ...withFiles },
  { ...edit, method: 'GET', path: `${at}/edit/*tag`, page: showEditRelease },
  { ...edit, method: 'POST', path: `${at}/edit/*tag`, page: editRelease, ...withFiles },
  { ...edit, method: 'GET', path: `${at}/delete/*tag`, page: confirmReleaseDeletion },
  { ...edit, method: 'POST', path: `${at}/delete/*tag`, page: deleteRelease, confirmation: 'required' },
  { ...edit, method: 'POST', path: `${at}/remove-file/*tag`, page: removeReleaseFile },
] satisfies readonly PageRoute[];
