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
import { openForPush } from './open-for-push.ts';
import { isPinned, listPins, movePin, pin, unpin } from './pins/pins.ts';
import type { PushListener } from './pushes/notify-listeners.ts';
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

/** The front door of the room; the functions behind these names say what each refuses. */
export function createRepositories(tools: Omit<RepositoryDeps, 'preReceiveChecks' | 'optionRemarks'>) {
  const deps: RepositoryDeps = { ...tools, preReceiveChecks: [], optionRemarks: [] };
  const journal = new PushJournal(deps.db);
  const running: RunningPushes = new Set();
  const survey = createRepositoryStatistics(deps);
  const listeners = [preserveOverwrittenTips(deps)] as unknown as PushListener<never>[];
  const announcer = new PushAnnouncer(deps, journal, listeners as PushListener[]);
  const recovery = new PushRecovery(deps, journal, announcer);
  /** The finishing of pushes under way. */
  let finishing: Promise<void> | null = null;
  const ownedRepositories = ownedRepositoriesIn(deps);

  /** Gives the room to a use-case; what remains are the parameters its own page describes. */
  const bind =
    <Rest extends unknown[], Result>(useCase: (deps: RepositoryDeps, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      useCase(deps, ...rest);
  /** The same for a use-case about `{owner}/{name}`, which edges have apart. */
  const bindAt =
    <Rest extends unknown[], Result>(
      useCase: (deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress, ...rest: Rest) => Result,
    ) =>
    (viewer: Viewer, owner: string, name: string, ...rest: Rest): Result =>
      useCase(deps, viewer, { owner, name }, ...rest);

  /** For pushes of this process, whose settlement has counted the announcement. */
  function tell(pushId: string, repositoryId: string): void {
    void announcer.announce(pushId, repositoryId, { isBegun: true });
    survey.schedule(repositoryId);
  }

  async function apply(found: Pick<Found, 'repository' | 'path'>, push: ServerPush): Promise<AppliedPush> {
    await recovery.ready(found.repository.id);
    const applied = await applyUpdates(deps, journal, running, found, push);
    if (applied.results.some(({ ok }) => ok)) tell(applied.pushId, found.repository.id);
    return applied;
  }

  /** Leaves what the last run left to the recovery, as long as that is at work. */
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
    /** For jobs. */
    surveyDue: () => survey.due(),
    measureAll: () => survey.measureAll(),
    recountLanguages: () => survey.recount(),
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
    /** For a job: what refs lost is kept for a limited time. */
    letOldTipsGo: () => releaseOverwrittenTips(deps),
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
      if (edit.defaultBranch !== undefined && edited !== null) survey.schedule(edited);
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

    /** Plugs a listener in; before `recover`, so that it hears what was left over. */
    onPush<Prepared>(listener: PushListener<Prepared>): void {
      if (listeners.some(({ name }) => name === listener.name))
        throw internal(`two push listeners are called ${listener.name}`);
      listeners.push(listener as PushListener<never>);
      if (listener.remarkOn !== undefined) deps.optionRemarks.push(listener.remarkOn);
    },

    /** Plugs in who may say no to every push to a repository. */
    refusePushes: (guard: PreReceiveCheck) => void deps.preReceiveChecks.push(guard),

    /** Moves refs on the server's own account, as a push that everybody hears of. All objects are there already. */
    applyUpdates: apply,

    /** Receives a push for what `openForPush` found. The listeners hear of it while the client gets its answer. */
    async receivePush(opened: Found, incoming: IncomingPush): Promise<void> {
      const pushId = await receivePush(deps, journal, running, opened, incoming);
      if (pushId !== null) tell(pushId, opened.repository.id);
    },

    /**
     * At start, before any port opens: ends what a previous run left running, puts folders
     * and images where their rows say, and notes which pushes `recoverPushes` will finish.
     */
    async recover(): Promise<void> {
      await deps.git.endStrayProcesses();
      await recoverFolders(deps);
      await recoverImages(deps);
      await recovery.begin();
    },

    /** Once the ports are open: removes locks, settles and announces the pushes that `recover` has found. */
    recoverPushes: () => recovery.run(),
    /** For a stop: nothing more of it is begun, and who waits for it is sent away. */
    abortRecovery: () => recovery.abort(),

    /** For a job: what a passing fault left unsettled or unannounced is tried again. */
    finishPushes: (): Promise<void> => (finishing ??= finish().finally(() => (finishing = null))),

    listParkedPushes: bind(listParkedPushes),
    /** By hand: lets a push be announced once more, a parked one too. */
    unparkPush: bind(unparkPush),
    /** Announces a push to the listeners that have not heard of it, and says how that went. */
    async announceAgain({ id, repositoryId }: UnannouncedPush): Promise<RetriedPush> {
      await announcer.announce(id, repositoryId);
      return outcomeOf(deps, id);
    },

    /** Waits for announcements under way, as long as a stop may take. */
    async stop(): Promise<void> {
      recovery.abort();
      await Promise.all([announcer.stop(), survey.stop()]);
    },
  };
}

export type Repositories = ReturnType<typeof createRepositories>;
