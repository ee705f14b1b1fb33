import type { Viewer } from '../../access/index.ts';
import { splitMails } from '../../git/index.ts';
import type { PatchRequest } from '../../git/index.ts';
import { conflict, forbidden, invalid, notFound, unavailable } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isDiskLow } from '../disk-space.ts';
import { findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { pushChannelOf } from '../pushes/push-channel.ts';
import { parseNewBranch, tipOf } from './change-files.ts';
import type { MoveBranch } from './change-files.ts';
import { commitPeople } from './commit-author.ts';
import type { NamedAuthor } from './commit-author.ts';
import { changeMessage } from './commit-message.ts';
import { parseFilePath } from './file-path.ts';

export interface BranchPatch {
  /** Output of `git diff`, or mails of `git format-patch`. */
  patch: Buffer;
  /** Commit message for a plain diff; mails bring their own. */
  message: string;
  /** The branch to apply the patch to; defaults to the default branch. */
  branch?: string | undefined;
  /** Commits to a new branch of this name, starting at `branch`. */
  newBranch?: string | undefined;
  /** Author for a plain diff; mails bring their own. */
  author?: NamedAuthor | undefined;
  committer?: NamedAuthor | undefined;
  /** Appends a `Signed-off-by:` line of the committer to the message of a plain diff. */
  isSignedOff?: boolean | undefined;
}

/** Longest patch, in bytes. */
const maxPatchBytes = 4 * 1024 * 1024;

/**
 * Applies a patch to a branch as a journalled push: one commit for a plain diff, or one per mail. Throws
 * `repository_not_found` without write access, `repository_archived`, `no_such_branch`, `invalid_branch_name`,
 * `branch_exists`, `patch_missing`, `patch_too_large`, what `applyPatch` throws, `branch_protected`, `ref_moved`,
 * `push_refused`, `disk_low`, `git_busy`.
 */
export async function patchBranch(
  deps: RepositoryDeps,
  moveBranch: MoveBranch,
  viewer: Viewer,
  at: RepositoryAddress,
  { patch, message, branch: wanted, newBranch, author, committer, isSignedOff = false }: BranchPatch,
): Promise<{ oid: string; branch: string }> {
  const found = await findRepository(deps, viewer, at, 'write');
  if (found.repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
  if (patch.length > maxPatchBytes)
    throw invalid('patch_too_large', `A patch can be at most ${maxPatchBytes / 1024 ** 2} MiB. Push it instead.`, {
      field: 'content',
    });
  const isDiff = splitMails(patch).kind === 'diff';
  if (isDiff && !/^(?:diff |--- |Index: )/m.test(patch.toString('latin1')))
    throw invalid('patch_missing', 'This is not a patch because no line starts with "diff" or "---".', {
      field: 'content',
    });
  if (await isDiskLow(found.path, deps.settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });
  const from = wanted ?? found.repository.defaultBranch;
  const refs = await deps.git.refs.list(found.path);
  const tip = tipOf(refs, from, found);
  if (tip === null) throw notFound('no_such_branch', `This repository has no branch named ${from}.`);
  const branch = newBranch === undefined ? from : parseNewBranch(newBranch, refs);
  const people: PatchRequest['people'] = async (named) => {
    if (named === null) return commitPeople(deps, viewer, { author, committer });
    const made = await commitPeople(deps, viewer, {
      author: { name: named.name, email: named.email, at: named.at ?? undefined },
    });
    return { ...made, author: { ...made.author, offsetMinutes: named.offsetMinutes } };
  };
  const text = changeMessage(message.trim() || 'apply-patch', []);
  const { name, email } = (await commitPeople(deps, viewer, { author, committer })).committer;
  const { oid } = await deps.git.merges.applyPatch(found.path, {
    onto: tip,
    patch,
    message: isSignedOff ? `${text}\n\nSigned-off-by: ${name} <${email}>` : text,
    people,
    checkPath: parseFilePath,
  });
  const { isMoved } = await moveBranch(viewer, found, {
    branch,
    oldId: newBranch === undefined ? tip : '0'.repeat(tip.length),
    newId: oid,
    right: 'push',
    via: pushChannelOf(viewer),
  });
  if (!isMoved) throw conflict('ref_moved', `${branch} has changed. Try again.`);
  return { oid, branch };
}
