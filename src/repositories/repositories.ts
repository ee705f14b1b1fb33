import type { Viewer, Visibility } from '../access/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import type { ImageUpload } from '../images/index.ts';
import { internal } from '../kernel/index.ts';
import {
  addCollaborator,
  changeCollaboratorRole,
  leaveRepository,
  removeCollaborator,
} from './collaborators/change-collaborators.ts';
import { explainAccess, listCollaborators, listCollaboratorsPage } from './collaborators/list-collaborators.ts';
import { createRepository } from './create-repository.ts';
import { findRepository, repositoryFacts } from './find-repository.ts';
import type { Found, Needed, RepositoryAddress } from './find-repository.ts';
import type { Repository } from './schema/repository-schema.ts';
import { recoverImages } from './images/recover-images.ts';
import { openImage, removeImage, replaceImage } from './images/repository-image.ts';
import { listLanguages } from './languages/list-languages.ts';
import { setArchived } from './lifecycle/archive-repository.ts';
import { ownedRepositoriesIn, refuseOwner } from './lifecycle/owned-repositories.ts';
import { changeVisibility } from './lifecycle/change-visibility.ts';
import { editRepository } from './lifecycle/edit-repository.ts';
import type { RepositoryEdit } from './lifecycle/edit-repository.ts';
import { findRedirect, listFormerPaths } from './lifecycle/find-redirect.ts';
import { recoverFolders } from './lifecycle/recover-folders.ts';
import { renameRepository } from './lifecycle/rename-repository.ts';
import {
  acceptTransfer,
  declineTransfer,
  listOffers,
  offerOf,
  transferRepository,
  withdrawTransfer,
} from './lifecycle/transfer-repository.ts';
import { emptyTrash, listRestorable, listTrash, moveToTrash, restoreRepository } from './lifecycle/trash.ts';
import { countRepositories, listAllRepositories, listByIds, listRepositories } from './list-repositories.ts';
import { isPublic, listPublic } from './public-repositories.ts';
import { locateRepositories } from './locate-repository.ts';
import { openForPush } from './pushes/receive-push.ts';
import { isPinned, listPins, movePin, pin, unpin } from './pins/pins.ts';
import type { PushListener } from './pushes/announce-push.ts';
import { applyUpdates } from './pushes/apply-updates.ts';
import type { AppliedPush, ServerPush } from './pushes/apply-updates.ts';
import { finishPushes } from './pushes/finish-pushes.ts';
import { preserveOverwrittenTips, releaseOverwrittenTips } from './pushes/preserve-overwritten-tips.ts';
import { listActivity } from './pushes/list-activity.ts';
import { recentPushes } from './pushes/recent-pushes.ts';
import { PushAnnouncer } from './pushes/push-announcer.ts';
import { PushJournal } from './pushes/push-journal.ts';
import { PushRecovery } from './pushes/push-recovery.ts';
import { receivePush } from './pushes/receive-push.ts';
import type { IncomingPush, RunningPushes } from './pushes/receive-push.ts';
import type { PreReceiveCheck } from './pushes/pre-receive-port.ts';
import { countPushes } from './pushes/count-pushes.ts';
import { createBranch, deleteBranch } from './pushes/change-branches.ts';
import { listLostTips, undoPush } from './pushes/undo-push.ts';
import type { UndoRequest } from './pushes/undo-push.ts';
import { listParkedPushes, outcomeOf, unannouncedPushes, unparkPush } from './pushes/unfinished-pushes.ts';
import type { RetriedPush, UnannouncedPush } from './pushes/unfinished-pushes.ts';
import type { RepositoryDeps } from './deps.ts';
import {
  commitStatuses,
  commitStatusesOf,
  removeCommitStatus,
  removeStatusesTo,
  setCommitStatus,
} from './statuses/commit-statuses.ts';
import type { CommitPlace } from './statuses/commit-statuses.ts';
import { reportStatus } from './statuses/report-status.ts';
import type { ReportedStatus } from './statuses/report-status.ts';
import { createRepositoryStatistics } from './repository-statistics.ts';

/** The public interface of the module; each function documents what it refuses. */
export function createRepositories(tools: Omit<RepositoryDeps, 'preReceiveChecks' | 'optionRemarks'>) {
  const deps: RepositoryDeps = { ...tools, preReceiveChecks: [], optionRemarks: [] };
  const journal = new PushJournal(deps.db);
  const running: RunningPushes = new Set();
  const statistics = createRepositoryStatistics(deps);
  const listeners = [preserveOverwrittenTips(deps)] as unknown as PushListener<never>[];
  const announcer = new PushAnnouncer(deps, journal, listeners as PushListener[]);
  const recovery = new PushRecovery(deps, journal, announcer);
  /** The running call of `finishPushes`. */
  let finishing: Promise<void> | null = null;
  const ownedRepositories = ownedRepositoriesIn(deps);

  /** Passes the dependencies to a use-case; its other parameters remain. */
  const bind =
    <Rest extends unknown[], Result>(useCase: (deps: RepositoryDeps, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      useCase(deps, ...rest);
  /** The same for a use-case about `{owner}/{name}`, which transports pass as two arguments. */
  const bindAt =
    <Rest extends unknown[], Result>(
      useCase: (deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress, ...rest: Rest) => Result,
    ) =>
    (viewer: Viewer, owner: string, name: string, ...rest: Rest): Result =>
      useCase(deps, viewer, { owner, name }, ...rest);

  /** For pushes of this process, whose result already counted the announcement. */
  function notify(pushId: string, repositoryId: string): void {
    void announcer.announce(pushId, repositoryId, { isBegun: true });
    statistics.schedule(repositoryId);
  }

  async function apply(found: Pick<Found, 'repository' | 'path'>, push: ServerPush): Promise<AppliedPush> {
    await recovery.ready(found.repository.id);
    const applied = await applyUpdates(deps, journal, running, found, push);
    if (applied.results.some(({ ok }) => ok)) notify(applied.pushId, found.repository.id);
    return applied;
  }

  /** Leaves the pushes of the last run to the recovery while it is running. */
  async function finish(): Promise<void> {
    await recovery.ended();
    await finishPushes(deps, journal, running);
    for (const push of await unannouncedPushes(deps, 'due')) await announcer.announce(push.id, push.repositoryId);
  }

  return {
    create: bind(createRepository),
    find: (viewer: Viewer, owner: string, name: string, needed: Needed = 'read'): Promise<Found> =>
      findRepository(deps, viewer, { owner, name }, needed),
    findMoved: bindAt(findRedirect),
    openForRead: (viewer: Viewer, owner: string, name: string): Promise<Found> =>
      findRepository(deps, viewer, { owner, name }),
    async openForPush(viewer: Viewer, owner: string, name: string): Promise<Found> {
      const found = await openForPush(deps, viewer, { owner, name });
      await recovery.ready(found.repository.id);
      return found;
    },
    list: bind(listRepositories),
    listLanguages: bind(listLanguages),
    /** For the scheduled task. */
    updateStatisticsDue: () => statistics.due(),
    measureAll: () => statistics.measureAll(),
    recountLanguages: () => statistics.recount(),
    listAll: bind(listAllRepositories),
    countAll: bind(countRepositories),
    listByIds: bind(listByIds),
    isPublic,
    listPublic: bind(listPublic),
    recentPushes: bind(recentPushes),
    countPushes: bind(countPushes),
    listFormerPaths: bind(listFormerPaths),
    listActivity: bind(listActivity),
    listLostTips: bind(listLostTips),
    undo: (viewer: Viewer, owner: string, name: string, request: UndoRequest) =>
      undoPush(deps, apply, viewer, { owner, name }, request),
    createBranch: (viewer: Viewer, owner: string, name: string, wanted: { name: string; from: string }) =>
      createBranch(deps, apply, viewer, { owner, name }, wanted),
    deleteBranch: (viewer: Viewer, owner: string, name: string, branch: { name: string; expected: string }) =>
      deleteBranch(deps, apply, viewer, { owner, name }, branch),
    /** For the scheduled task: releases overwritten tips after their retention time. */
    releaseOverwrittenTips: () => releaseOverwrittenTips(deps),
    locate: (ids: Iterable<string>) => locateRepositories(deps, ids),
    /**
     * For modules whose rights hang on those on a repository: the facts that `access` decides by.
     * @param source the manager of the write that acts on it
     */
    factsOf: (personId: string | null, repository: Repository, source: RowSource = deps.db.lookup) =>
      repositoryFacts(deps, source, personId, repository),

    setCommitStatus,
    removeCommitStatus,
    removeStatusesTo,
    reportStatus: (viewer: Viewer, owner: string, name: string, status: ReportedStatus) =>
      reportStatus(deps, viewer, { owner, name }, status),
    commitStatusesOf: (places: readonly CommitPlace[]) => commitStatusesOf(deps.db, places),
    commitStatuses: (repositoryId: string, shas: readonly string[]) => commitStatuses(deps.db, repositoryId, shas),

    async edit(viewer: Viewer, owner: string, name: string, edit: RepositoryEdit): Promise<void> {
      const edited = await editRepository(deps, viewer, { owner, name }, edit);
      if (edit.defaultBranch !== undefined && edited !== null) statistics.schedule(edited);
    },
    changeVisibility: (viewer: Viewer, owner: string, name: string, visibility: Visibility) =>
      changeVisibility(deps, viewer, { owner, name }, visibility),
    setArchived: bindAt(setArchived),
    rename: bindAt(renameRepository),
    transfer: bindAt(transferRepository),
    offerOf: bindAt(offerOf),
    withdrawTransfer: bindAt(withdrawTransfer),
    listOffers: bind(listOffers),
    acceptTransfer: bind(acceptTransfer),
    declineTransfer: bind(declineTransfer),

    moveToTrash: bindAt(moveToTrash),
    restore: bind(restoreRepository),
    listTrash: bind(listTrash),
    listRestorable: bind(listRestorable),
    emptyTrash: bind(emptyTrash),

    replaceImage: (viewer: Viewer, owner: string, name: string, upload: ImageUpload) =>
      replaceImage(deps, viewer, { owner, name }, upload),
    removeImage: bindAt(removeImage),
    openImage: bindAt(openImage),

    listCollaborators: bindAt(listCollaborators),
    listCollaboratorsPage: bindAt(listCollaboratorsPage),
    addCollaborator: bindAt(addCollaborator),
    changeCollaboratorRole: bindAt(changeCollaboratorRole),
    removeCollaborator: bindAt(removeCollaborator),
    leave: bindAt(leaveRepository),
    explainAccess: bindAt(explainAccess),

    listPins: bind(listPins),
    isPinned: bind(isPinned),
    pin: bindAt(pin),
    unpin: bindAt(unpin),
    movePin: bindAt(movePin),

    /** For `organisations.owning`. */
    ownedRepositories,
    /** For the write that deletes an account. */
    refuseOwner: (tx: Tx, personId: string) => refuseOwner(ownedRepositories, tx, personId),

    /** Registers a listener; before `recover`, so that it is called for unfinished pushes. */
    onPush<Prepared>(listener: PushListener<Prepared>): void {
      if (listeners.some(({ name }) => name === listener.name))
        throw internal(`two push listeners are called ${listener.name}`);
      listeners.push(listener as PushListener<never>);
      if (listener.remarkOn !== undefined) deps.optionRemarks.push(listener.remarkOn);
    },

    /** Registers a check that may refuse every push to a repository. */
    refusePushes: (guard: PreReceiveCheck) => void deps.preReceiveChecks.push(guard),

    /** Moves refs on behalf of the server, as an announced push. All objects exist already. */
    applyUpdates: apply,

    /** Receives a push to what `openForPush` found. Listeners are notified while the client gets its response. */
    async receivePush(opened: Found, incoming: IncomingPush): Promise<void> {
      const pushId = await receivePush(deps, journal, running, opened, incoming);
      if (pushId !== null) notify(pushId, opened.repository.id);
    },

    /**
     * At start, before any port opens: kills processes of a previous run, moves folders and images to where their rows
     * say, and reads which pushes `recoverPushes` will finish.
     */
    async recover(): Promise<void> {
      await deps.git.endStrayProcesses();
      await recoverFolders(deps);
      await recoverImages(deps);
      await recovery.begin();
    },

    /** Once the ports are open: removes locks, settles and announces the pushes that `recover` has found. */
    recoverPushes: () => recovery.run(),
    /** At a stop: aborts the recovery and rejects its waiters. */
    abortRecovery: () => recovery.abort(),

    /** For the scheduled task: retries pushes that a transient failure left unsettled or unannounced. */
    finishPushes: (): Promise<void> => (finishing ??= finish().finally(() => (finishing = null))),

    listParkedPushes: bind(listParkedPushes),
    /** By hand: retries a push, also a parked one. */
    unparkPush: bind(unparkPush),
    /** Announces a push to the remaining listeners, and returns the result. */
    async announceAgain({ id, repositoryId }: UnannouncedPush): Promise<RetriedPush> {
      await announcer.announce(id, repositoryId);
      return outcomeOf(deps, id);
    },

    /** Waits for running announcements, up to the time limit of a stop. */
    async stop(): Promise<void> {
      recovery.abort();
      await Promise.all([announcer.stop(), statistics.stop()]);
    },
  };
}

export type Repositories = ReturnType<typeof createRepositories>;
