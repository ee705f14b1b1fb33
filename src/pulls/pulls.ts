import { submitPatchReply } from './patch-replies/submit-patch-reply.ts';
import { findStack } from './stacks/find-stack.ts';
import { recordSkippedChecks } from './merging/skipped-checks.ts';
import { mergeBaseOf } from './stacks/stacked-pulls.ts';
import { bindDeps } from '../kernel/index.ts';
import type { PullDeps } from './deps.ts';
import { findByBranches } from './find-by-branches.ts';
import { pullInWrite } from './find-pull.ts';
import { editPull } from './lifecycle/edit-pull.ts';
import { deleteHeadBranch, restoreHeadBranch } from './lifecycle/head-branch.ts';
import { openPull } from './lifecycle/open-pull.ts';
import { proposeChange } from './lifecycle/propose-change.ts';
import { refuseDuplicatePull } from './lifecycle/refuse-duplicate-pull.ts';
import { proposePatch } from './patches/propose-patch.ts';
import { revertPull } from './lifecycle/revert-pull.ts';
import { updateBranch } from './lifecycle/update-branch.ts';
import { describePulls } from './lists/describe-pulls.ts';
import { pullOfCommit } from './lists/pull-of-commit.ts';
import { findMergedPulls, hasMerged } from './lists/find-merged-pulls.ts';
import { branchesWithOpenPulls } from './lists/branches-with-open-pulls.ts';
import { findMergeState, updateMergeState } from './mergeability/compute-merge-state.ts';
import { readConflicts } from './mergeability/read-conflicts.ts';
import { MergeStateQueue } from './merge-state-queue.ts';
import { createReviewService } from './reviews/review-service.ts';
import { createThreadService } from './threads/thread-service.ts';
import { createMatchedOwnersCache } from './code-owners-file/match-owners.ts';
import { ownersOf } from './code-owners/owner-groups.ts';
import { attentionListener } from './attention/attention-listener.ts';
import { applySuggestions } from './suggestions/apply-suggestions.ts';
import { findPullTemplate } from './templates/pull-template.ts';
import { createAttentionService } from './attention/attention-service.ts';
import { createViewedService } from './viewed/viewed-files.ts';
import { advanceBranch, advanceQueues, wakeForRun } from './queue/advance-queue.ts';
import { enterQueue, leaveQueue, moveToFront } from './queue/enter-queue.ts';
import type { CandidateTests } from './candidate-tests.ts';
import { withQueueUpdates } from './queue/queue-listener.ts';
import { findQueuePosition, listQueues } from './queue/queue-position.ts';
import { QueueRunner } from './queue-runner.ts';
import { mergeBox } from './merging/merge-box.ts';
import { mergePull } from './merging/merge-pull.ts';
import { cancelMergeWhenReady, mergeAllReady, mergeIfReady, mergeWhenReady } from './merging/merge-when-ready.ts';
import { retryMergeOnStatus } from './merging/retry-merge-on-status.ts';
import { onPush } from './on-push.ts';
import { rightsOnPull } from './rights.ts';
import { compareRounds, pairRoundCommits } from './rounds/compare-rounds.ts';
import { catchUp, onRestore, recoverPulls } from './rounds/recover-pulls.ts';
import { findShownPull } from './rounds/current-head.ts';
import { findPullCode } from './rounds/find-pull-code.ts';
import { findRound, listRoundCommits, listRounds } from './rounds/list-rounds.ts';
import { readPatch } from './rounds/read-patch.ts';
import { removeDeletedRounds } from './rounds/remove-deleted-rounds.ts';
import { pullsOfIssues } from './pulls-of-issues.ts';
import type { CheckedExport, ImportSource, PullImporter } from '../issues/index.ts';
import { issueSchema } from '../issues/index.ts';
import { roundSchema } from './schema/round-schema.ts';
import type { RoundRow } from './schema/round-schema.ts';
import { exportPulls, planExport } from './portable/export-pulls.ts';
import type { CheckedPulls, ReadBundle } from './portable/read-pulls.ts';
import { finishPushOptions } from './pushes/apply-push-options.ts';
import { acceptPushesForReview } from './pushes/push-for-review.ts';

export type PullsOptions = Omit<PullDeps, 'mergeStates' | 'matchedOwners' | 'queue' | 'isFollowing'>;

/** Pull requests; each function documents its errors. */
export function createPulls(tools: PullsOptions) {
  const mergeStates = new MergeStateQueue(tools.logger);
  const queue = new QueueRunner(tools.logger);
  const deps: PullDeps = {
    ...{ ...tools, mergeStates, queue, matchedOwners: createMatchedOwnersCache() },
    isFollowing: async () => false,
  };
  mergeStates.connect(async (issueId) => {
    await catchUp(deps, issueId);
    await updateMergeState(deps, issueId);
    await mergeIfReady(deps, issueId, enterQueue);
  });
  queue.connect((repositoryId, baseBranch) => advanceBranch(deps, { repositoryId, baseBranch }));
  const bind = bindDeps(deps);

  return {
    open: bind(openPull),
    propose: bind(proposeChange),
    proposePatch: bind(proposePatch),
    find: bind(findShownPull),
    rightsOn: bind(rightsOnPull),
    findByBranches: bind(findByBranches),
    ofCommit: bind(pullOfCommit),
    /** Initial description of a new pull request. */
    template: bind(findPullTemplate),
    /** For the API and webhooks, which have already found the issues. */
    ofIssues: bind(pullsOfIssues),
    reviews: {
      ...createReviewService(deps),
      /** Submits a review from the text of a patch with answers between its lines. */
      submitAnswers: bind(submitPatchReply),
    },
    threads: createThreadService(deps),
    attention: createAttentionService(deps),
    owners: { of: bind(ownersOf) },
    viewed: createViewedService(deps),
    suggestions: { apply: bind(applySuggestions) },
    /** Check for `issues.pulls.refuseReopen`. */
    refuseDuplicate: refuseDuplicatePull,
    /**
     * Listener for `issues.onEntry` that must precede notifications: records whose turn it is, and asks code owners.
     */
    onEntry: withQueueUpdates(deps, attentionListener(deps)),
    /** Data that lists and the API show in addition to issues already found. */
    describe: bind(describePulls),
    /** For CI, which already has the issue. */
    codeOf: bind(findPullCode),
    hasMerged: bind(hasMerged),
    recordSkippedChecks,
    mergeBaseOf: bind(mergeBaseOf),
    stack: bind(findStack),
    inWrite: bind(pullInWrite),
    openHeads: bind(branchesWithOpenPulls),
    /** For release notes. */
    mergedAmong: bind(findMergedPulls),
    edit: bind(editPull),
    updateBranch: bind(updateBranch),
    deleteBranch: bind(deleteHeadBranch),
    restoreBranch: bind(restoreHeadBranch),
    revert: bind(revertPull),
    rounds: {
      list: bind(listRounds),
      find: bind(findRound),
      commits: bind(listRoundCommits),
      compare: bind(compareRounds),
      pairCommits: bind(pairRoundCommits),
      patch: bind(readPatch),
    },
    mergeStateOf: bind(findMergeState),
    conflicts: bind(readConflicts),
    mergeBox: bind(mergeBox),
    merge: bind(mergePull),
    mergeWhenReady: bind(mergeWhenReady),
    cancelMergeWhenReady: bind(cancelMergeWhenReady),
    queue: {
      enter: bind(enterQueue),
      leave: bind(leaveQueue),
      moveToFront: bind(moveToFront),
      placeOf: bind(findQueuePosition),
      list: bind(listQueues),
      /** Sets the tests that run on merges before a branch moves to them. */
      setCandidateTests<T>(tests: CandidateTests<T>): void {
        queue.tests = tests as CandidateTests<unknown>;
      },
      /** Listener for `ci.onRunEnd`. */
      onRunEnd: bind(wakeForRun),
      /** Resumes the queues from their rows, at start and in the scheduled task. */
      advanceAll: () => advanceQueues(deps),
    },

    /** Exports and imports of the pull requests of a repository. */
    portable: {
      plan: bind(planExport),
      files: bind(exportPulls),
      /** Loaded on first use, because the parser of the format takes a while to load. */
      check: async (...given: [source: ImportSource, logs: CheckedExport, bundle: ReadBundle]): Promise<CheckedPulls> =>
        (await import('./portable/read-pulls.ts')).checkPulls(deps, ...given),
      refuseTakenBranches: async (
        ...given: [repositoryId: string, checked: CheckedPulls, numbers: readonly number[]]
      ) => (await import('./portable/import-pulls.ts')).refuseTakenBranches(deps, ...given),
      importer: async (path: string, checked: Pick<CheckedPulls, 'read'>, isFollowed = false): Promise<PullImporter> =>
        (await import('./portable/import-pulls.ts')).importPulls(deps, path, checked, isFollowed),
      /** The rounds of a pull request, oldest first. */
      rounds: async (repositoryId: string, number: number): Promise<RoundRow[]> => {
        const issue = await deps.db.read.findOneBy(issueSchema, { repositoryId, number });
        if (issue === null) return [];
        const rows = await deps.db.read.findBy(roundSchema, { issueId: issue.id });
        return rows.sort((one, other) => one.round - other.round);
      },
    },

    /** Connects the imports, from which the rounds of followed pull requests come. */
    followedBy(isFollowing: PullDeps['isFollowing']): void {
      deps.isFollowing = isFollowing;
    },
    /** Listener for `repositories.pushes.onPush`. */
    onPush: onPush(deps),
    /** Listener for `repositories.trash.onRestore`. */
    onRestore: onRestore(deps),
    /** Handler for `repositories.pushes.onReviewPush`. */
    pushesFor: acceptPushesForReview(deps),
    /** Listener for `repositories.statuses.onChange`. */
    onStatus: retryMergeOnStatus(deps),
    /** Checks pull requests again after an event that may have made them ready; takes the ids of their issues. */
    reconsider: (issueIds: readonly string[]): void => mergeStates.add(issueIds),
    /** At start, in the background: completes what a crash interrupted between writing a row and a ref. */
    recover: () => mergeStates.track(recoverPulls(deps)),
    /** Scheduled task. */
    mergeAllReady: () => mergeAllReady(deps),
    /** At start and in the scheduled task: applies push options that a crash interrupted. */
    finishPushOptions: bind(finishPushOptions),
    /** Scheduled task. */
    releaseRounds: () => removeDeletedRounds(deps),
    /** Waits for running trial merges. */
    stop: async () => void (await Promise.all([mergeStates.stop(), queue.stop()])),
  };
}

export type Pulls = ReturnType<typeof createPulls>;
