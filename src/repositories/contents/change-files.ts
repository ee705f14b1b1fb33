import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { conflict, forbidden, invalid, notFound } from '../../kernel/index.ts';
import { parseBranchName } from '../branch-name.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import type { BranchMove } from '../pushes/move-branch.ts';
import { prepareCommit } from './prepare-commit.ts';
import type { FileCommit, PreparedCommit } from './prepare-commit.ts';
import { pushChannelOf } from '../pushes/push-channel.ts';

/** Moves a branch by the repository's rules, like `pushes.moveBranch`. */
export type MoveBranch = (
  viewer: Viewer,
  found: Pick<Found, 'repository' | 'path'>,
  move: BranchMove,
) => Promise<{ pushId: string; isMoved: boolean }>;

export interface FileChange extends FileCommit {
  /** The branch to read the files from; defaults to the default branch. */
  branch?: string | undefined;
  /** Commits to a new branch of this name, starting at `branch`. */
  newBranch?: string | undefined;
}

export interface ChangedFiles extends PreparedCommit {
  /** The branch that received the commit. */
  branch: string;
  /** The parent commit; null for the first one. */
  parent: string | null;
  pushId: string;
}

/** How often the commit is recreated when the branch moves concurrently. */
const maxAttempts = 3;
const heads = 'refs/heads/';

/**
 * Changes files in one commit, as a journalled push to a branch. If the branch moved concurrently, the commit goes on
 * top as long as the files are still those that the user saw. Throws `repository_not_found` without write access,
 * `repository_archived`, `no_such_branch`, `invalid_branch_name`, `branch_exists`, `branch_protected` by a rule,
 * `push_refused`, `branch_moves_too_fast`, and what `prepareCommit` throws.
 */
export async function changeFiles(
  deps: RepositoryDeps,
  moveBranch: MoveBranch,
  viewer: Viewer,
  at: RepositoryAddress,
  { branch: wanted, newBranch, ...commit }: FileChange,
): Promise<ChangedFiles> {
  const found = await findRepository(deps, viewer, at, 'write');
  if (found.repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  const from = wanted ?? found.repository.defaultBranch;
  for (let attempt = 1; ; attempt += 1) {
    const refs = await deps.git.refs.list(found.path);
    const parent = tipOf(refs, from, found);
    const branch = newBranch === undefined ? from : parseNewBranch(newBranch, refs);
    const prepared = await prepareCommit(deps, viewer, found, parent, commit);
    const { pushId, isMoved } = await moveBranch(viewer, found, {
      branch,
      oldId: newBranch !== undefined || parent === null ? '0'.repeat(prepared.oid.length) : parent,
      newId: prepared.oid,
      right: 'push',
      via: pushChannelOf(viewer),
    });
    if (isMoved) {
      deps.logger.info('contents.changed', {
        repositoryId: found.repository.id,
        branch,
        commit: prepared.oid,
        files: prepared.files.length,
        by: viewerForLog(viewer),
      });
      return { ...prepared, branch, parent, pushId };
    }
    if (newBranch !== undefined)
      throw conflict(
        'branch_in_the_way',
        `git could not create ${branch} because the name conflicts with another branch.`,
        {
          field: 'new_branch',
        },
      );
    if (attempt === maxAttempts)
      throw conflict('branch_moves_too_fast', `${branch} is changing too quickly. Try again in a moment.`);
  }
}

/** Null for a repository without commits, where a commit creates the branch. Throws `no_such_branch`. */
export function tipOf(
  refs: ReadonlyMap<string, string>,
  branch: string,
  { repository }: Pick<Found, 'repository'>,
): string | null {
  const tip = refs.get(heads + branch);
  if (tip !== undefined) return tip;
  const isEmpty = ![...refs.keys()].some((ref) => ref.startsWith(heads));
  if (isEmpty && branch === repository.defaultBranch) return null;
  throw notFound('no_such_branch', `This repository has no branch named ${branch}.`);
}

/** Validates the name of a new branch. Throws `invalid_branch_name`, `branch_exists`. */
export function parseNewBranch(text: string, refs: ReadonlyMap<string, string>): string {
  const name = text.trim();
  try {
    parseBranchName(name);
  } catch (cause) {
    throw invalid('invalid_branch_name', 'git does not accept this branch name.', { field: 'new_branch', cause });
  }
  if (refs.has(heads + name))
    throw conflict('branch_exists', `A branch named ${name} already exists.`, { field: 'new_branch' });
  return name;
}
