import { anonymous, mergeVerdict, personIdOf, refusalOnPull, viewerWithCredential } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { forbidden, isDomainError } from '../../kernel/index.ts';
import { MoreThan } from 'typeorm';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, findPull, pullById, pullInWrite, refuse, requireOpen } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { hasPendingHeadPush } from '../rounds/pending-push.ts';
import { roundChanged } from '../rounds/record-round.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { formatMessage, parseStyle } from './merge-message.ts';
import { mergePull } from './merge-pull.ts';
import type { MergeInput } from './merge-pull.ts';

type ReadyInput = Omit<MergeInput, 'bypasses' | 'round'>;

/** Adds a pull request to the merge queue of a branch. */
type EnterQueue = (
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  input: Omit<MergeInput, 'bypasses'>,
) => Promise<unknown>;

const unset = { mergeWhenReadyBy: null, mergeWhenReadyRound: null, mergeWhenReady: null } as const;

/**
 * Schedules the merge of this round for when nothing blocks it. The request depends on the permissions that its user
 * has then, and on the round: a later round ends it unless it is only a rebase. Throws `round_changed`, `pull_closed`,
 * and the errors of `refusalOnPull` for `merge`.
 */
export async function mergeWhenReady(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { round, ...input }: Omit<MergeInput, 'bypasses'>,
): Promise<void> {
  const asked: ReadyInput = { style: parseStyle(input.style), title: input.title, body: input.body };
  formatMessage({ title: asked.title ?? '', body: asked.body ?? '' });
  const { issue } = await findCurrentPull(deps, viewer, at);
  const personId = personIdOf(viewer);
  if (personId === null)
    throw forbidden('person_needed', 'Only a user can request that a pull request is merged later.');
  await deps.issues.pulls.write(viewer, async (log) => {
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'merge');
    requireOpen(now);
    if (now.pull.lastRound !== round || (await hasPendingHeadPush(log.tx.before, now.pull))) throw roundChanged();
    const rule = await deps.repositories.rules.deciding(log.tx.before, now.repository, now.pull.baseBranch);
    // Checks only the permission now; everything else may follow later.
    const { blocks } = mergeVerdict(viewer, now.facts, rule, waiting, asked.style);
    if (blocks.some(({ kind }) => kind === 'level'))
      throw forbidden('may_not_merge', 'You do not have permission to merge into this branch.');
    await log.tx.manager.update(
      pullSchema,
      { issueId: issue.id },
      { mergeWhenReadyBy: personId, mergeWhenReadyRound: round, mergeWhenReady: JSON.stringify(asked) },
    );
    await log.append(now.issue, { kind: 'merge_when_ready', details: { round, style: asked.style } });
  });
  deps.mergeStates.add([issue.id]);
}

/** Facts of a pull request that only missing permissions can block. */
const waiting = {
  state: 'OPEN',
  isDraft: false,
  authorId: null,
  mergeState: 'CLEAN',
  baseExists: true,
  isUpToDate: true,
  rounds: [],
  reviews: [],
  owners: [],
  openThreads: 0,
  checks: new Map(),
} as const;

/** Cancels the scheduled merge; any user who can merge may do so. Does nothing without one. */
export async function cancelMergeWhenReady(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  const { issue, pull, facts } = await findPull(deps, viewer, at);
  refuse(refusalOnPull(viewer, facts, factsOfPull(issue, pull), 'merge'));
  await deps.issues.pulls.write(viewer, async (log) => {
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'merge');
    if (now.pull.mergeWhenReady === null) return;
    await log.tx.manager.update(pullSchema, { issueId: issue.id }, unset);
    await log.append(now.issue, { kind: 'merge_when_ready', details: { cancelled: true } });
  });
}

/**
 * Merges a pull request that waits for it if nothing blocks it now. A block that may resolve itself leaves it waiting;
 * any other ends the request, with the reason in the log. If the branch has a merge queue, adds the pull request to it.
 */
export async function mergeIfReady(deps: PullDeps, issueId: string, enterQueue: EnterQueue): Promise<void> {
  const found = await pullById(deps, issueId);
  if (found === null || found.issue.state !== 'OPEN' || found.pull.mergeWhenReady === null) return;
  const { issue, pull } = found;
  const located = (await deps.repositories.locate([issue.repositoryId])).get(issue.repositoryId);
  if (located === undefined) return;
  const askedBy = pull.mergeWhenReadyBy ?? '';
  const person = (await deps.accounts.peopleById([askedBy])).get(askedBy);
  if (person === undefined || person.disabledAt !== null)
    return endWish(deps, issueId, anonymous, 'The account that asked for it is gone.');
  const viewer = viewerOnBehalf(person.id, issue.repositoryId);
  const at = { owner: located.owner.handle, name: located.repository.name, number: issue.number };
  try {
    const input = JSON.parse(pull.mergeWhenReady!) as ReadyInput;
    const rule = await deps.repositories.rules.deciding(deps.db.read, located.repository, pull.baseBranch);
    const merge = rule?.merging.upToDate === 'queue' ? enterQueue : mergePull;
    await merge(deps, viewer, at, { ...input, round: pull.mergeWhenReadyRound! });
  } catch (error) {
    if (!isDomainError(error)) throw error;
    // A later round ends the request itself, unless it is only a rebase.
    const passing = ['merge_blocked', 'branch_moves_too_fast', 'round_changed', 'push_not_recorded', 'queue_full'];
    const isPassing = passing.includes(error.reason) || error.code === 'unavailable';
    if (!isPassing) await endWish(deps, issueId, viewer, error.message);
  }
}

/** Viewer for a user on whose behalf the server merges later, with their permissions at that time. */
export const viewerOnBehalf = (personId: string, repositoryId: string): Viewer =>
  viewerWithCredential(personId, { via: 'session', scope: 'write', repositoryIds: null }, repositoryId);

async function endWish(deps: PullDeps, issueId: string, viewer: Viewer, reason: string): Promise<void> {
  await deps.issues.pulls.write(viewer, async (log) => {
    const found = await log.tx.manager.findOneBy(pullSchema, { issueId });
    if (found === null || found.mergeWhenReady === null) return;
    await log.tx.manager.update(pullSchema, { issueId }, unset);
    const issue = await deps.issues.pulls.rowInWrite(log.tx, issueId);
    if (issue !== null) await log.append(issue, { kind: 'merge_when_ready', details: { cancelled: true, reason } });
  });
}

/** Scheduled task: handles statuses and approvals that no event reported, and requests left at shutdown. */
export async function mergeAllReady(deps: PullDeps): Promise<void> {
  const rows = await deps.db.read.find(pullSchema, {
    select: { issueId: true },
    // The index contains exactly the waiting rows.
    where: { mergeWhenReadyBy: MoreThan('') },
    take: 500,
  });
  deps.mergeStates.add(rows.map(({ issueId }) => issueId));
}
