import type { Viewer } from '../../access/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { changeFiles } from './change-files.ts';
import type { ChangedFiles, FileChange, MoveBranch } from './change-files.ts';
import { usualSubject } from './commit-message.ts';
import { prepareCommit } from './prepare-commit.ts';
import type { FileCommit, PreparedCommit } from './prepare-commit.ts';

/** Commits that the server makes of files, for pages and the API. */
export function createContentService(deps: RepositoryDeps, moveBranch: MoveBranch) {
  return {
    change: (viewer: Viewer, owner: string, name: string, change: FileChange): Promise<ChangedFiles> =>
      changeFiles(deps, moveBranch, viewer, { owner, name }, change),
    /** For a module that decides itself where the commit goes, and who may. */
    prepare: (viewer: Viewer, found: Found, tip: string, commit: FileCommit): Promise<PreparedCommit> =>
      prepareCommit(deps, viewer, found, tip, commit),
    usualSubject,
    /** The files of one change together, in bytes. */
    get maxBytes(): number {
      return deps.settings.maxChangeBytes;
    },
  };
}
