import type { Viewer } from '../../access/index.ts';
import type { FilesPreview, PatchLimits } from '../../git/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { changeFiles } from './change-files.ts';
import type { ChangedFiles, FileChange, MoveBranch } from './change-files.ts';
import { commitPeople } from './commit-author.ts';
import type { CommitPeople } from './commit-author.ts';
import { patchBranch } from './patch-branch.ts';
import type { BranchPatch } from './patch-branch.ts';
import { revertCommit } from './revert-commit.ts';
import type { Reverted, RevertRequest } from './revert-commit.ts';
import { usualSubject } from './commit-message.ts';
import { prepareCommit, requestOf } from './prepare-commit.ts';
import type { FileCommit, PreparedCommit } from './prepare-commit.ts';

/** Commits that the server creates from files, for pages and the API. */
export function createContentService(deps: RepositoryDeps, moveBranch: MoveBranch) {
  return {
    change: (viewer: Viewer, owner: string, name: string, change: FileChange): Promise<ChangedFiles> =>
      changeFiles(deps, moveBranch, viewer, { owner, name }, change),
    /** For modules that decide themselves where the commit goes and who may create it. */
    prepare: (viewer: Viewer, found: Found, tip: string, commit: FileCommit): Promise<PreparedCommit> =>
      prepareCommit(deps, viewer, found, tip, commit),
    /** Previews a change; stores nothing. */
    preview: async (
      viewer: Viewer,
      found: Found,
      tip: string | null,
      commit: FileCommit,
      limits: PatchLimits,
    ): Promise<FilesPreview> =>
      deps.git.merges.previewFiles(found.path, await requestOf(deps, viewer, found, tip, commit), limits),
    patch: (
      viewer: Viewer,
      owner: string,
      name: string,
      patch: BranchPatch,
    ): Promise<{ oid: string; branch: string }> => patchBranch(deps, moveBranch, viewer, { owner, name }, patch),
    revert: (viewer: Viewer, owner: string, name: string, request: RevertRequest): Promise<Reverted> =>
      revertCommit(deps, moveBranch, viewer, { owner, name }, request),
    /** Author and committer of commits whose content another module creates; see {@link commitPeople}. */
    people: (viewer: Viewer, named: Parameters<typeof commitPeople>[2]): Promise<CommitPeople> =>
      commitPeople(deps, viewer, named),
    usualSubject,
    /** Total size of the files in one change, in bytes. */
    get maxBytes(): number {
      return deps.settings.maxChangeBytes;
    },
  };
}
