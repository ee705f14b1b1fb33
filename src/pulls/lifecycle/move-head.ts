import { allows, personIdOf, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, forbidden } from '../../kernel/index.ts';
import type { Found, Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullInWrite, refuse, requireOpen } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { headOf } from '../head-label.ts';
import { mayPushHead, tipOfHead } from '../merging/merge-box.ts';
import { contributedBytes, contributedTooMuch, isOverBudget } from '../rounds/contribution-quota.ts';
import { prepareNextRound } from '../rounds/prepare-next-round.ts';
import { publishHead } from '../rounds/publish-head.ts';
import { recordRound, roundChanged } from '../rounds/record-round.ts';

/**
 * Returns the repository in which the server writes the head of a pull request. Throws `head_not_yours` if the viewer
 * cannot push to the head branch, `head_gone`, `repository_archived`.
 */
export async function headForWriting(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  context: PullContext,
): Promise<Pick<Located, 'repository' | 'path'>> {
  const { pull, repository } = context;
  if (repository.archivedAt !== null) refuse('archived');
  const head = await headOf(deps, viewer, repository, pull);
  // A private fork hidden from the viewer counts as deleted, and is not theirs either.
  if (pull.source !== 'PUSH' && (await tipOfHead(deps, head)) === null)
    throw conflict('head_gone', 'The branch of this pull request no longer exists.');
  if (!(await mayPushHead(deps, viewer, context, head)))
    throw forbidden('head_not_yours', 'You do not have write access to the branch of this pull request.');
  const there = pull.source === 'PUSH' ? found : head.repository;
  if (there === null) throw conflict('head_gone', 'The branch of this pull request no longer exists.');
  return there;
}

/** Time in milliseconds to wait for the round of a moved head. */
const roundWaitMs = 3_000;

/**
 * Moves the head of a pull request to a new commit on top of it, as a push to the head branch, which creates a round;
 * for a pull request without a branch, writes the round here. Throws `round_changed` if the head has moved,
 * `branch_protected`, `pull_closed`, `contributed_too_much`, and the errors of `mayMoveRefs`.
 * @param there result of `headForWriting`
 */
export async function moveHead(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  { issue, pull }: PullContext,
  there: Pick<Located, 'repository' | 'path'>,
  oid: string,
): Promise<void> {
  if (pull.source === 'PUSH') {
    const submitterId = personIdOf(viewer);
    const coming = { submitterId, headOid: oid, known: [pull.baseOid, pull.headOid] };
    const bytes = await contributedBytes(deps, found, coming);
    if (await isOverBudget(deps, found.repository.id, submitterId, bytes)) throw contributedTooMuch(deps);
    const prepared = await prepareNextRound(deps, found, pull, oid);
    await deps.issues.pulls.write(viewer, async (log) => {
      const now = await pullInWrite(deps, log.tx, viewer, issue, 'add_round');
      requireOpen(now);
      await recordRound(log, now.issue, now.pull, prepared, { submitterId, pushId: null, bytes });
    });
    await publishHead(deps, found.path, { ...pull, headOid: oid, number: issue.number });
    deps.mergeStates.add([issue.id]);
    return;
  }
  const ofViewer = await deps.repositories.factsOf(personIdOf(viewer), there.repository);
  const { isMoved } = await deps.repositories.pushes.moveBranch(viewer, there, {
    branch: pull.headBranch!,
    oldId: pull.headOid,
    newId: oid,
    // Users with write access to the base repository may push to the fork only if its author allows it.
    ...(allows(repositoryLevel(viewer, ofViewer), 'write')
      ? { right: 'push' }
      : { right: 'merge', authorize: (tx) => requireMaintainer(deps, tx, viewer, issue) }),
  });
  if (!isMoved) throw roundChanged();
  // The push listener records the round, which the next page must show.
  await deps.repositories.pushes.whenAnnounced(there.repository.id, roundWaitMs);
}

/**
 * Checks, with the data of the write, that the author lets users of the base repository push, and that the viewer is
 * one.
 */
async function requireMaintainer(deps: PullDeps, tx: Tx, viewer: Viewer, issue: PullContext['issue']): Promise<void> {
  const now = await pullInWrite(deps, tx, viewer, issue, 'merge');
  requireOpen(now);
  if (!now.pull.maintainersMayPush)
    throw forbidden('head_not_yours', 'You do not have write access to the branch of this pull request.');
}
