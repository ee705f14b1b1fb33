import { allows, refusalInRepository, repositoryLevel } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { refusalError } from '../../issues/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { PushForReview, ReviewVerdict } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { contributedBytesLeft, contributedTooMuch } from '../rounds/contribution-quota.ts';
import { isBeingMerged } from '../rounds/pending-push.ts';
import { pullPushSchema } from '../schema/pull-schema.ts';
import type { PullPushRow } from '../schema/pull-schema.ts';
import type { KnownPull } from './choose-pull.ts';
import type { PushForOptions } from './read-push-options.ts';
import { refuseRound, refuseTooManyOf } from './refuse-push.ts';

/** Data about a push, read before the write that checks it. */
export interface ReadPush {
  /** All refs of the repository. */
  refs: ReadonlyMap<string, string>;
  baseBranch: string;
  options: PushForOptions;
}

/**
 * Checks a push to `refs/for/<branch>` against the permissions and limits of the user, regardless of its kind. Throws
 * the errors of `refuseRound` for existing pull requests and those of opening others, `too_many_pulls`,
 * `contributed_too_much`, `merge_running`.
 * @param known existing pull requests that get a round
 * @param added whether it adds to pull requests that are not written yet
 * @param opened number of new pull requests, which count against the limit
 * @returns the size limit of its pack in bytes; null for users with write access
 */
export async function admitPush(
  deps: PullDeps,
  tx: Tx,
  { viewer, opened: { repository } }: Pick<PushForReview, 'viewer' | 'opened'>,
  { userId, known, added, opened }: { userId: string; known: readonly KnownPull[]; added: boolean; opened: number },
): Promise<number | null> {
  const context = await deps.issues.pulls.contextOf(tx.before, viewer, repository);
  for (const pull of known) {
    refuseRound(viewer, context.facts, pull);
    if (await isBeingMerged(tx.before, pull.pull))
      throw conflict('merge_running', `pull request #${pull.issue.number} is being merged at this moment`);
  }
  const refusal = added || opened > 0 ? refusalInRepository(viewer, context.facts, 'contribute') : null;
  if (refusal !== null) throw refusalError(refusal, 'PULL');
  const isMember = allows(repositoryLevel(viewer, context.facts), 'write');
  if (opened > 0 && !isMember) await refuseTooManyOf(tx.before, repository.id, userId, opened);
  for (let count = 0; count < opened; count += 1) deps.issues.pulls.charge(viewer, context);
  if (isMember) return null;
  const left = await contributedBytesLeft(deps, tx.before, repository.id, userId);
  if (left === 0) throw contributedTooMuch(deps);
  return Math.min(deps.contributedPushBytes ?? left, left);
}

/** Columns that differ between the pull requests of a push. */
type PlacedPush = Pick<PullPushRow, 'number' | 'position' | 'oid' | 'belowOid' | 'topic'>;

/**
 * Accepts an admitted push: git writes the ref of the last of its pull requests, and each of them gets a row.
 * @param maxPackBytes result of `admitPush`
 */
export function acceptedPush(
  { manager, now }: Tx,
  { id, opened, newId }: Pick<PushForReview, 'id' | 'opened' | 'newId'>,
  { refs, baseBranch, options }: ReadPush,
  {
    userId,
    placed,
    ...verdict
  }: { userId: string; placed: readonly PlacedPush[] } & Pick<
    Extract<ReviewVerdict, { accept: true }>,
    'maxPackBytes' | 'remarks'
  >,
): ReviewVerdict {
  const to = `refs/pull/${placed.at(-1)!.number}/head`;
  const shared = { pushId: id, repositoryId: opened.repository.id, baseBranch, userId, createdAt: now };
  return {
    accept: true,
    to,
    oldId: refs.get(to) ?? '0'.repeat(newId.length),
    others: options.others,
    async record() {
      for (const row of placed) await manager.insert(pullPushSchema, { ...shared, ...row });
    },
    ...verdict,
  };
}
