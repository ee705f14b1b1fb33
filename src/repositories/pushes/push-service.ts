import type { Viewer } from '../../access/index.ts';
import { bindDeps, internal } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { adoptPushes } from './adopt-pushes.ts';
import { announcePushAhead, findPush } from './announce-push.ts';
import type { PushListener } from './announce-push.ts';
import type { PostReceiveOutput } from '../ports/post-receive-port.ts';
import { applyUpdates } from './apply-updates.ts';
import type { AppliedPush, ServerPush } from './apply-updates.ts';
import { createBranch, deleteBranch } from './change-branches.ts';
import { createTag, deleteTag } from './change-tags.ts';
import type { NewTag } from './change-tags.ts';
import { readCommitCounts } from '../commit-counts/read-commit-counts.ts';
import { countPushes } from './count-pushes.ts';
import { finishPushes } from './finish-pushes.ts';
import { listActivity } from './list-activity.ts';
import { moveBranch } from './move-branch.ts';
import type { BranchMove } from './move-branch.ts';
import type { PreReceiveCheck } from '../ports/pre-receive-port.ts';
import { removeOldPushes } from './remove-old-pushes.ts';
import { preserveOverwrittenTips, releaseOverwrittenTips } from './preserve-overwritten-tips.ts';
import { PushAnnouncer } from './push-announcer.ts';
import { PushJournal } from './push-journal.ts';
import { PushRecovery } from './push-recovery.ts';
import { openForPush, receivePush } from './receive-push.ts';
import type { IncomingPush, RunningPushes } from './receive-push.ts';
import { findPushByTip } from './find-push-by-tip.ts';
import { describePushes, recentPushes } from './recent-pushes.ts';
import type { ReviewPort } from '../ports/review-port.ts';
import { listLostTips, undoPush } from './undo-push.ts';
import type { UndoRequest } from './undo-push.ts';
import {
  isPushRunning,
  listParkedPushes,
  outcomeOf,
  pushesLeftFor,
  unannouncedPushes,
  unparkPush,
} from './unfinished-pushes.ts';
import type { RetriedPush, UnannouncedPush } from './unfinished-pushes.ts';

/**
 * Pushes: received or made by the server, journalled, announced to listeners, recovered, undone.
 * @param onAccepted called with the repository after each push of this process that moved a ref
 */
export function createPushService(deps: RepositoryDeps, onAccepted: (repositoryId: string) => void) {
  const journal = new PushJournal(deps.db);
  const running: RunningPushes = new Set();
  const listeners: PushListener[] = [];
  const announcer = new PushAnnouncer(deps, journal, listeners);
  const recovery = new PushRecovery(deps, journal, announcer);
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  /** The running `finish` call. */
  let finishing: Promise<void> | null = null;

  /** For pushes of this process, whose result already counted the announcement. */
  function notify(pushId: string, repositoryId: string): void {
    void announcer.announce(pushId, repositoryId, { isAttemptCounted: true });
    onAccepted(repositoryId);
  }

  async function apply(found: Pick<Found, 'repository' | 'path'>, push: ServerPush): Promise<AppliedPush> {
    await recovery.ready(found.repository.id);
    const applied = await applyUpdates(deps, journal, running, found, push);
    if (applied.results.some(({ ok }) => ok)) notify(applied.pushId, found.repository.id);
    return applied;
  }

  /** Leaves the last run's pushes to the recovery while it is running. */
  async function finish(): Promise<void> {
    await recovery.ended();
    await adoptPushes(deps);
    await finishPushes(deps, journal, running);
    await announcer.retryCutOff();
    for (const push of await unannouncedPushes(deps, 'due')) await announcer.announce(push.id, push.repositoryId);
  }

  /** Waits for the current run; a second caller checks again afterwards. */
  const ahead = new Map<string, Promise<void>>();

  async function recordAhead(name: string, repositoryId: string): Promise<void> {
    const listener = (listeners as PushListener[]).find((each) => each.name === name)!;
    for (const pushId of await pushesLeftFor(deps, repositoryId, name))
      await announcePushAhead(deps, journal, listener, pushId);
  }

  const pushes = {
    /**
     * Receives a push to a repository opened by `openForPush`. Notifies listeners while the client gets its response.
     */
    async receive(opened: Found, incoming: IncomingPush): Promise<void> {
      const pushId = await receivePush(deps, journal, running, opened, incoming);
      if (pushId !== null) notify(pushId, opened.repository.id);
    },
    /** Moves refs on behalf of the server, as an announced push. All objects must exist. */
    applyUpdates: apply,
    /** Moves a branch for a user, under the repository's rules. */
    moveBranch: (viewer: Viewer, found: Pick<Found, 'repository' | 'path'>, move: BranchMove) =>
      moveBranch(deps, apply, viewer, found, move),
    undo: (viewer: Viewer, owner: string, name: string, request: UndoRequest) =>
      undoPush(deps, apply, viewer, { owner, name }, request),

    listRecent: bind(recentPushes),
    describe: bind(describePushes),
    /** A push by its id, as passed to listeners. */
    find: (pushId: string) => findPush(deps, journal, pushId),
    /** The push that set a ref to its tip. */
    ofTip: bind(findPushByTip),
    count: bind(countPushes),
    countCommits: bind(readCommitCounts),
    listActivity: bind(listActivity),
    listLostTips: bind(listLostTips),

    /** Push listener that precedes all others: a repack must not drop a tip before it is preserved. */
    preserveOverwrittenTips: preserveOverwrittenTips(deps),
    /** Registers a listener; must precede `recover`, so that it is called for unfinished pushes. */
    onPush(listener: PushListener): void {
      if (listeners.some(({ name }) => name === listener.name))
        throw internal(`two push listeners are called ${listener.name}`);
      listeners.push(listener);
      if (listener.remarkOn !== undefined) deps.optionRemarks.push(listener.remarkOn);
    },
    /** Registers the handler of pushes to `refs/for/<branch>`; without one they are refused. */
    onReviewPush<Prepared>(port: ReviewPort<Prepared>): void {
      deps.reviews.port = port as ReviewPort;
    },
    /** Registers a listener that may print messages to the client after a push. */
    addPostReceiveOutput: (remark: PostReceiveOutput) => void deps.arrivalRemarks.push(remark),
    /** Registers a check that may refuse any push to a repository. */
    refuse: (guard: PreReceiveCheck) => void deps.preReceiveChecks.push(guard),

    /** Once the ports are open: removes locks, and settles and announces the pushes found at start. */
    recover: () => recovery.run(),
    /** For a page that shows data recorded by push listeners. */
    whenAnnounced: (repositoryId: string, waitMs: number) => announcer.whenAnnounced(repositoryId, waitMs),
    /**
     * Lets a listener record the repository's settled pushes that it has not recorded, in order but ahead of its queue:
     * for an action that depends on its records. Throws the listener's error.
     */
    recordAhead(listener: string, repositoryId: string): Promise<void> {
      const key = `${listener} ${repositoryId}`;
      const running = ahead.get(key);
      if (running !== undefined) return running.catch(() => {}).then(() => recordAhead(listener, repositoryId));
      const work = recordAhead(listener, repositoryId).finally(() => ahead.delete(key));
      ahead.set(key, work);
      return work;
    },
    isRunning: bind(isPushRunning),
    /** At shutdown: aborts the recovery and rejects its waiters. */
    abortRecovery: () => recovery.abort(),
    /** For the scheduled task: retries pushes that a transient failure left unsettled or unannounced. */
    finish: (): Promise<void> => (finishing ??= finish().finally(() => (finishing = null))),
    /** For the scheduled task: releases overwritten tips after their retention time. */
    releaseOverwrittenTips: () => releaseOverwrittenTips(deps),
    /** Nightly: deletes old journal rows. */
    removeOld: () => removeOldPushes(deps),

    listParked: bind(listParkedPushes),
    /** Manually retries a push, even a parked one. */
    unpark: bind(unparkPush),
    /** Announces a push to the remaining listeners and returns the result. */
    async announceAgain({ id, repositoryId }: UnannouncedPush): Promise<RetriedPush> {
      await announcer.announce(id, repositoryId);
      return outcomeOf(deps, id);
    },
  };

  return {
    pushes,
    branches: {
      create: (viewer: Viewer, owner: string, name: string, wanted: { name: string; from: string }) =>
        createBranch(deps, apply, viewer, { owner, name }, wanted),
      delete: (viewer: Viewer, owner: string, name: string, branch: { name: string; expected: string }) =>
        deleteBranch(deps, apply, viewer, { owner, name }, branch),
    },
    tags: {
      create: (viewer: Viewer, owner: string, name: string, wanted: NewTag) =>
        createTag(deps, apply, viewer, { owner, name }, wanted),
      delete: (viewer: Viewer, owner: string, name: string, tag: { name: string; expected: string }) =>
        deleteTag(deps, apply, viewer, { owner, name }, tag),
    },
    openForPush: bindAt(async (...args: Parameters<typeof openForPush>): Promise<Found> => {
      const found = await openForPush(...args);
      await recovery.ready(found.repository.id);
      return found;
    }),
    /** At start, before any port opens: reads the pushes that `recover` will finish. */
    async begin(): Promise<void> {
      await adoptPushes(deps);
      await recovery.begin();
    },
    /** Waits for running announcements, up to the shutdown time limit. */
    async stop(): Promise<void> {
      recovery.abort();
      await announcer.stop();
    },
  };
}
