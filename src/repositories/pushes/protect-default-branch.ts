import type { FastForwardRule, RefusedRef } from '../../git/index.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RefUpdate } from './push-journal.ts';

const noRef = /^0+$/;

/** The result of the default branch's protection for the commands of a push. */
export interface Protection {
  /** The refused command, if any, with a message for the person who pushes. */
  refused: readonly RefusedRef[];
  /** Refs that may only be fast-forwarded; decided by the objects. */
  onlyForward: FastForwardRule[];
}

/**
 * The default branch of a repository is never deleted by a push: clones would come without files. It is not rewritten
 * either, unless the protection is off. Creating it is allowed.
 * A deletion shows in the command. Whether a move is a fast-forward shows in the objects, most of which have not
 * arrived yet: that check is left to the git module, as a rule for the ref.
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
