import type { FastForwardRule, RefusedRef } from '../../git/index.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RefUpdate } from './push-journal.ts';

const noRef = /^0+$/;

/** What the protection of the default branch says to the commands of a push. */
export interface Protection {
  /** The command that is refused, if any, in words for the person who pushes. */
  refused: readonly RefusedRef[];
  /** Refs that may only move to a descendant of what they are; the objects decide. */
  onlyForward: FastForwardRule[];
}

/**
 * The default branch of a repository is never deleted by a push: clones would come
 * without files. It is not rewritten either, unless the protection is switched off.
 * Making it is free.
 *
 * A deletion shows in the command. Whether a move goes forward shows in the objects,
 * most of which are still to come: that question is left to the git room, together
 * with the ref it is about.
 */
export function protectDefaultBranch(
  { defaultBranch, defaultBranchProtected }: Pick<Repository, 'defaultBranch' | 'defaultBranchProtected'>,
  updates: readonly RefUpdate[],
): Protection {
  const ref = `refs/heads/${defaultBranch}`;
  const command = updates.find((update) => update.ref === ref);
  if (command === undefined || noRef.test(command.oldId)) return { refused: [], onlyForward: [] };
  if (noRef.test(command.newId)) {
    const reason = `${defaultBranch} is the default branch and cannot be deleted; choose another one first`;
    return { refused: [{ ref, reason }], onlyForward: [] };
  }
  if (!defaultBranchProtected) return { refused: [], onlyForward: [] };
  const reason = `${defaultBranch} is the protected default branch and cannot be rewritten; fetch, then merge or rebase`;
  return { refused: [], onlyForward: [{ ref, reason }] };
}
