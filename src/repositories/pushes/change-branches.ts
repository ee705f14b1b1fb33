import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { conflict, invalid, isDomainError, notFound } from '../../kernel/index.ts';
import { findRepository } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import { parseBranchName } from '../branch-name.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { AppliedPush, ServerPush } from './apply-updates.ts';
import { requireRefWrite } from './require-ref-write.ts';
import { requireWritten } from './require-written.ts';
import { evaluateRules } from '../rules/evaluate-rules.ts';
import { sentence } from '../rules/describe-rule.ts';
import type { RefUpdate } from './push-journal.ts';
import { pushChannelOf } from './push-channel.ts';

type Apply = (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>;

const heads = 'refs/heads/';

/**
 * Creates a branch at another branch, a tag or a commit, as an ordinary push. Throws `repository_not_found` without
 * write access, `invalid_branch_name`, `branch_exists` and `start_not_found` with the fields `name` and `from`,
 * `branch_in_the_way`, `branch_protected` by a rule, `repository_archived`, `push_refused`.
 */
export async function createBranch(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  at: RepositoryAddress,
  wanted: { name: string; from: string },
): Promise<string> {
  const found = await findRepository(deps, viewer, at, 'write');
  const name = parseName(wanted.name);
  const newId = await deps.git.refs.resolve(found.path, wanted.from).catch((error: unknown) => {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    throw invalid('start_not_found', 'There is no branch, tag or commit with this name.', { field: 'from' });
  });
  const exists = conflict('branch_exists', `A branch named ${name} already exists.`, { field: 'name' });
  if ((await deps.git.refs.tip(found.path, heads + name)) !== null) throw exists;
  const update: RefUpdate = { ref: heads + name, oldId: '0'.repeat(newId.length), newId };
  const [result] = await moveRef(deps, apply, viewer, found, update, { field: 'name' });
  if (result?.ok !== true)
    throw conflict(
      'branch_in_the_way',
      `git could not create ${name} because the name conflicts with another branch.`,
      { field: 'name' },
    );
  return name;
}

function parseName(text: string): string {
  try {
    return parseBranchName(text.trim());
  } catch (cause) {
    throw invalid('invalid_branch_name', 'git does not accept this branch name.', { field: 'name', cause });
  }
}

/**
 * Deletes a branch unless it moved since the user saw it. Its commits are preserved for a while, and `undo` restores
 * it. Throws `repository_not_found` without write access, `branch_gone`, `ref_moved`, `branch_protected` for the
 * default branch and by a rule, `repository_archived`, `push_refused`.
 */
export async function deleteBranch(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  at: RepositoryAddress,
  { name, expected }: { name: string; expected: string },
): Promise<void> {
  const found = await findRepository(deps, viewer, at, 'write');
  const oldId = await deps.git.refs.tip(found.path, heads + name);
  if (oldId === null) throw notFound('branch_gone', 'There is no such branch.');
  const moved = conflict('ref_moved', `${name} has changed. Check it before you delete it.`);
  if (oldId !== expected) throw moved;
  const [result] = await moveRef(deps, apply, viewer, found, {
    ref: heads + name,
    oldId,
    newId: '0'.repeat(oldId.length),
  });
  if (result?.ok !== true) throw moved;
}

/** Moves one ref for a user, as a journalled push under the repository's rules. Throws `ref_locked`. */
export async function moveRef(
  deps: RepositoryDeps,
  apply: Apply,
  viewer: Viewer,
  found: Found,
  update: RefUpdate,
  field: { field?: string } = {},
): Promise<AppliedPush['results']> {
  const userId = personIdOf(viewer);
  const { results } = await apply(found, {
    via: pushChannelOf(viewer),
    userId,
    updates: [update],
    async authorize(tx, row) {
      await requireRefWrite(deps, tx, viewer, row);
      // A branch created here starts at an existing commit, so it adds no merges.
      const [refused] = (await evaluateRules(deps, tx.before, viewer, row, [update])).refused;
      if (refused !== undefined) throw invalid('branch_protected', sentence(refused.reason), field);
    },
  });
  deps.logger.info('push.branch_changed', {
    repositoryId: found.repository.id,
    ref: update.ref,
    from: update.oldId,
    to: update.newId,
    by: viewerForLog(viewer),
  });
  for (const result of results) requireWritten(result);
  return results;
}
