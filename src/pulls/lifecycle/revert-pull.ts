import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict, forbidden, invalid } from '../../kernel/index.ts';
import { allows, personIdOf } from '../../access/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { oidOf } from '../merging/merge-pull.ts';
import { openPull } from './open-pull.ts';
import type { OpenedPull } from './open-pull.ts';

/** Limit of branch names that are tried for a revert. */
const maxNames = 20;

/**
 * Opens a pull request that reverts a merged one: one commit on the tip of the base branch, on a new branch
 * `revert-<number>`. Throws `not_merged`, `may_not_write`, `base_missing`, `merge_conflict` if later commits changed
 * the same lines, and the errors of `openPull`.
 */
export async function revertPull(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<OpenedPull> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const { issue, pull } = await findPull(deps, viewer, at);
  if (issue.state !== 'MERGED' || pull.mergedOid === null || pull.mergedOntoOid === null)
    throw invalid('not_merged', 'Only a merged pull request can be reverted.');
  if (!allows(found.level, 'write'))
    throw forbidden('may_not_write', 'You do not have write access to this repository.');
  const refs = await deps.git.refs.list(found.path);
  const tip = refs.get(`refs/heads/${pull.baseBranch}`);
  if (tip === undefined) throw invalid('base_missing', 'The base branch no longer exists.');
  const title = `Revert "${issue.title}"`.slice(0, 255);
  const body = `This reverts pull request #${issue.number}.`;
  const identity = {
    ...(await deps.accounts.addresses.identityOrServer(personIdOf(viewer))),
    at: deps.clock.now(),
    offsetMinutes: 0,
  };
  const outcome = await deps.git.merges.revert(found.path, {
    onto: tip,
    from: pull.mergedOid,
    to: pull.mergedOntoOid,
    message: `${title}\n\n${body}`,
    author: identity,
    committer: identity,
    sign: deps.signCommit,
  });
  const oid = oidOf(outcome, pull.baseBranch);
  const names = Array.from({ length: maxNames }, (_, at) => `revert-${issue.number}${at === 0 ? '' : `-${at + 1}`}`);
  const branch = names.find((name) => !refs.has(`refs/heads/${name}`));
  if (branch === undefined) throw conflict('branch_exists', 'There are too many revert branches.');
  const { isMoved } = await deps.repositories.pushes.moveBranch(viewer, found, {
    branch,
    oldId: '0'.repeat(oid.length),
    newId: oid,
    right: 'push',
  });
  if (!isMoved) throw conflict('branch_exists', `A branch named ${branch} was just created. Try again.`);
  return openPull(deps, viewer, at, { base: pull.baseBranch, head: branch, title, body });
}
