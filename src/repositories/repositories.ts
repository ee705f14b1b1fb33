import type { LifecycleListener } from './ports/lifecycle-port.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { bindDeps } from '../kernel/index.ts';
import { personIdOf } from '../access/index.ts';
import type { Viewer, Visibility } from '../access/index.ts';
import { bindRepositoryDeps } from './bind-repository-deps.ts';
import { createTeamRepositoryService } from './teams/team-repositories.ts';
import { createDeployKeyService } from './deploy-keys/deploy-key-service.ts';
import { createCollaboratorService } from './collaborators/collaborator-service.ts';
import { createContentService } from './contents/content-service.ts';
import type { Committer, RepositoryDeps } from './deps.ts';
import { findRepository, repositoryFacts } from './find-repository.ts';
import type { Found, Needed, RepositoryAddress } from './find-repository.ts';
import { createForkService } from './forks/fork-service.ts';
import { makeOwn } from './lifecycle/make-own.ts';
import { removeUnfinishedForks } from './lifecycle/remove-unfinished-forks.ts';
import { createImageService } from './images/image-service.ts';
import { recoverImages } from './images/recover-images.ts';
import { languagesOf, listLanguages } from './languages/list-languages.ts';
import { setArchived } from './lifecycle/archive-repository.ts';
import { changeVisibility } from './lifecycle/change-visibility.ts';
import { editRepository } from './lifecycle/edit-repository.ts';
import type { RepositoryEdit } from './lifecycle/edit-repository.ts';
import { findRedirect, listFormerPaths } from './redirects.ts';
import { createTransferService, createTrashService } from './lifecycle/lifecycle-services.ts';
import { ownedRepositoriesIn, refuseOwner } from './lifecycle/owned-repositories.ts';
import { recoverFolders } from './lifecycle/recover-folders.ts';
import { renameRepository } from './lifecycle/rename-repository.ts';
import {
  countListed,
  countRepositories,
  findByNumber,
  listAllRepositories,
  listByIds,
  listRepositories,
} from './list-repositories.ts';
import { locateRepositories } from './find-unchecked.ts';
import { createPinService } from './pins/pin-service.ts';
import { createStarService } from './stars/stars.ts';
import type { IncomingPush } from './pushes/receive-push.ts';
import { receiveWikiPush } from './wiki/receive-wiki-push.ts';
import { isWikiPath } from './wiki/wiki-repository.ts';
import { createWikiService, findMovedWiki } from './wiki/wiki-service.ts';
import { createTopicService } from './topics/topics.ts';
import { isPublic, listPublic } from './public-repositories.ts';
import { createPushService } from './pushes/push-service.ts';
import { createRepositoryStatistics } from './repository-statistics.ts';
import type { Repository } from './schema/repository-schema.ts';
import { createRuleService } from './rules/rule-service.ts';
import { initialiseRepository } from './initialisation/initialise-repository.ts';
import type { InitialisedRepository } from './initialisation/initialise-repository.ts';
import { createStatusService } from './statuses/status-service.ts';

/**
 * Called when users choose another default branch; not for the branch of a first push.
 * @param actorId the user who chose it; null for the instance
 */
type DefaultBranchListener = (repositoryId: string, actorId: string | null) => Promise<void>;

/**
 * The public interface of the module: finding, creating and changing repositories, with services for pushes, branches,
 * tags, contents, rules, collaborators, pins, commit statuses, images, trash, transfers and statistics. Each function
 * documents the errors it throws.
 */
export function createRepositories(
  tools: Omit<
    RepositoryDeps,
    | 'preReceiveChecks'
    | 'optionRemarks'
    | 'arrivalRemarks'
    | 'forkListeners'
    | 'lifecycleListeners'
    | 'restoreListeners'
    | 'wikiListeners'
    | 'copying'
    | 'reviews'
    | 'verification'
    | 'committer'
  > & {
    /** Signs commits that the server creates. */
    signCommit?: Committer['sign'];
  },
) {
  const deps: RepositoryDeps = {
    ...tools,
    preReceiveChecks: [],
    optionRemarks: [],
    arrivalRemarks: [],
    forkListeners: [],
    lifecycleListeners: [],
    restoreListeners: [],
    wikiListeners: [],
    copying: { port: null },
    verification: { verify: null },
    reviews: { port: null },
    committer: {
      identityOf: (viewer) => tools.accounts.addresses.identityOrServer(personIdOf(viewer)),
      sign: tools.signCommit,
    },
  };
  const statistics = createRepositoryStatistics(deps);
  const { pushes, branches, tags, ...pushing } = createPushService(deps, statistics.schedule);
  const ownedRepositories = ownedRepositoriesIn(deps);
  const wikis = createWikiService(deps);
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  const branchListeners: DefaultBranchListener[] = [];

  return {
    /** Registers a callback inside the transaction that creates or deletes a repository. */
    onLifecycle: (listener: LifecycleListener): void => void deps.lifecycleListeners.push(listener),
    /** Adds initial files if requested. */
    create: (viewer: Viewer, input: InitialisedRepository) =>
      initialiseRepository(deps, pushes.moveBranch, viewer, input),
    find: (viewer: Viewer, owner: string, name: string, needed: Needed = 'read'): Promise<Found> =>
      findRepository(deps, viewer, { owner, name }, needed),
    findMoved: bindAt(findRedirect),
    openForRead: (viewer: Viewer, owner: string, name: string): Promise<Found> =>
      findRepository(deps, viewer, { owner, name }),
    openForPush: pushing.openForPush,
    /** For the git protocol: a repository, or a wiki by the name `<repository>.wiki`. */
    openGitForRead: (viewer: Viewer, owner: string, name: string): Promise<Found> =>
      wikis.openForRead(viewer, owner, name) ?? findRepository(deps, viewer, { owner, name }),
    /** The same for pushes. */
    openGitForPush: (viewer: Viewer, owner: string, name: string): Promise<Found> =>
      wikis.openForPush(viewer, owner, name) ?? pushing.openForPush(viewer, owner, name),
    /** For the git protocol, as `findMoved`, also for wikis. */
    findMovedGit: async (viewer: Viewer, owner: string, name: string): Promise<RepositoryAddress | null> =>
      (await findMovedWiki(deps, viewer, { owner, name })) ?? findRedirect(deps, viewer, { owner, name }),
    /** Whether a user without write access to a repository may push changes for review. */
    mayPropose: async (viewer: Viewer, repository: Repository): Promise<boolean> =>
      (await deps.reviews.port?.mayPush(viewer, { repository })) === true,
    locate: (ids: Iterable<string>) => locateRepositories(deps, ids),
    isPublic,
    /**
     * For modules whose permissions derive from a repository's: the facts on which `access` decides.
     * @param source the manager of the dependent transaction
     */
    factsOf: (personId: string | null, repository: Repository, source: RowSource = deps.db.lookup) =>
      repositoryFacts(deps, source, personId, repository),

    list: bind(listRepositories),
    countListed: bind(countListed),
    listAll: bind(listAllRepositories),
    countAll: bind(countRepositories),
    listByIds: bind(listByIds),
    byNumber: bind(findByNumber),
    listPublic: bind(listPublic),
    listFormerPaths: bind(listFormerPaths),

    async edit(viewer: Viewer, owner: string, name: string, edit: RepositoryEdit): Promise<void> {
      const edited = await editRepository(deps, viewer, { owner, name }, edit);
      if (edit.defaultBranch === undefined || edited === null) return;
      statistics.schedule(edited);
      for (const listener of branchListeners) await listener(edited, personIdOf(viewer));
    },
    /** Recomputes data derived from the default branch after it changes. */
    onDefaultBranch: (listener: DefaultBranchListener): void => void branchListeners.push(listener),
    changeVisibility: (viewer: Viewer, owner: string, name: string, visibility: Visibility) =>
      changeVisibility(deps, viewer, { owner, name }, visibility),
    setArchived: bindAt(setArchived),
    makeOwn: bind(makeOwn),
    rename: bindAt(renameRepository),

    pushes: {
      ...pushes,
      /** Receives a push to a repository or a wiki, by the path that was opened. */
      receive: (opened: Found, incoming: IncomingPush): Promise<void> =>
        isWikiPath(opened.path) ? receiveWikiPush(deps, opened, incoming) : pushes.receive(opened, incoming),
    },
    branches,
    tags,
    contents: createContentService(deps, pushes.moveBranch),
    forks: createForkService(deps, pushes.applyUpdates, statistics.schedule),
    collaborators: createCollaboratorService(deps),
    deployKeys: createDeployKeyService(deps),
    teams: createTeamRepositoryService(deps),
    wikis,
    pins: createPinService(deps),
    stars: createStarService(deps),
    topics: createTopicService(deps),
    rules: createRuleService(deps),
    statuses: createStatusService(deps),
    images: createImageService(deps),
    trash: createTrashService(deps),
    transfers: createTransferService(deps),
    statistics: {
      listLanguages: bind(listLanguages),
      /** Languages by repository id, the main one first. No access check. */
      mainLanguages: bind(languagesOf),
      /** For the scheduled task. */
      updateDue: () => statistics.due(),
      measureAll: () => statistics.measureAll(),
      recountLanguages: () => statistics.recount(),
    },

    /** For `organisations.setOwnedRepositories`. */
    ownedRepositories,
    /** For the transaction that deletes an account. */
    refuseOwner: (tx: Tx, personId: string) => refuseOwner(ownedRepositories, tx, personId),

    /**
     * At start, before any port opens: kills processes of a previous run, moves folders and images to where their rows
     * say, and reads the pushes that `pushes.recover` will finish.
     */
    async recover(): Promise<void> {
      await deps.git.maintenance.endStrayProcesses();
      await removeUnfinishedForks(deps);
      await recoverFolders(deps);
      await recoverImages(deps);
      await pushing.begin();
    },
    /** Waits for running announcements, up to the shutdown time limit. */
    async stop(): Promise<void> {
      await Promise.all([pushing.stop(), statistics.stop()]);
    },
  };
}

export type Repositories = ReturnType<typeof createRepositories>;
