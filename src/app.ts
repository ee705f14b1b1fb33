/**
 * The composition root: the only file that imports all modules. It builds each once, in dependency order, and connects
 * their ports.
 */
import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import { migrations } from '../migrations/index.ts';
import { accountEntities, createAccounts } from './accounts/index.ts';
import type { Accounts } from './accounts/index.ts';
import { auditEntities, createAudit } from './audit/index.ts';
import type { Audit } from './audit/index.ts';
import { createBackups } from './backup/index.ts';
import type { Backups } from './backup/index.ts';
import { ciEntities, ciSettings, createCi } from './ci/index.ts';
import type { Ci } from './ci/index.ts';
import type { Config, Origin } from './config/index.ts';
import { createDatabase, databaseFileIn } from './db/index.ts';
import type { Database, WriterConnection } from './db/index.ts';
import { countInstance, createStorageUsage, objectKinds, storageFault } from './doctor/index.ts';
import type { InstanceCounts, StorageUsage } from './doctor/index.ts';
import { embedded } from './embedded/index.ts';
import { createFederation, federationEntities } from './federation/index.ts';
import type { Federation } from './federation/index.ts';
import { createGit } from './git/index.ts';
import type { Git } from './git/index.ts';
import { createImageProxy } from './image-proxy/index.ts';
import type { ImageProxy } from './image-proxy/index.ts';
import { createImageStore, createObjectImageStore } from './images/index.ts';
import type { ObjectImageStoreOptions } from './images/index.ts';
import { createPulls, pullEntities } from './pulls/index.ts';
import type { Pulls } from './pulls/index.ts';
import { createReleases, releaseEntities, releaseSettingsOf } from './releases/index.ts';
import type { Releases } from './releases/index.ts';
import { createIssues, issueEntities, issueSettingsOf } from './issues/index.ts';
import type { Issues } from './issues/index.ts';
import { createLfs, lfsEntities, lfsSettingsOf } from './lfs/index.ts';
import type { Lfs } from './lfs/index.ts';
import { systemClock, systemRandom } from './kernel/index.ts';
import type { Clock, Logger, Random } from './kernel/index.ts';
import { createFolderStore, openStore } from './objects/index.ts';
import type { ObjectStore, OpenedStore, StoreOptions } from './objects/index.ts';
import { createOrganisations, organisationEntities } from './organisations/index.ts';
import type { Organisations } from './organisations/index.ts';
import { avatarSchema, createAvatars, createOwners, handleSchema } from './owners/index.ts';
import type { Avatars, Owners } from './owners/index.ts';
import { InstanceKey } from './sealing/index.ts';
import { createRepositories, isDiskLow, repositoryEntities, repositorySettings } from './repositories/index.ts';
import type { Repositories } from './repositories/index.ts';
import { createSingleSignOn } from './single-sign-on/index.ts';
import type { SingleSignOn } from './single-sign-on/index.ts';
import { createSigning, signingEntities } from './signing/index.ts';
import type { Signing } from './signing/index.ts';
import { createCodeSearch, createIssueIndex, createSearch } from './search/index.ts';
import type { CodeSearch, Search } from './search/index.ts';
import type { ControlCommand } from './control/index.ts';
import { createNotifications, notificationEntities } from './notifications/index.ts';
import type { Notifications } from './notifications/index.ts';
import { createOutbox, outboxEntities } from './outbox/index.ts';
import type { Outbox } from './outbox/index.ts';
import { createMail } from './mail/index.ts';
import type { Mail } from './mail/index.ts';
import { createNotices, noticeEntities } from './notices/index.ts';
import type { Notices } from './notices/index.ts';
import { createMirrors, mirrorEntities } from './mirrors/index.ts';
import type { Mirrors } from './mirrors/index.ts';
import { createWebhooks, webhookEntities } from './webhooks/index.ts';
import type { Webhooks } from './webhooks/index.ts';
import { createWorkerPool } from './workers/index.ts';
import type { WorkerPool } from './workers/index.ts';
import type { CronTask, Scheduler } from './scheduler/index.ts';

export interface AppOptions {
  logger: Logger;
  clock?: Clock;
  random?: Random;
  /** Called when storage failed in a way that makes continuing unsafe: the program must exit. */
  onStorageFault?: (error: unknown) => void;
  /** The write connection, if it was opened while this file was being loaded. */
  writing?: WriterConnection;
  /** Where each setting comes from, for the settings page. */
  origins?: ReadonlyMap<string, Origin>;
  /** Control commands besides those that the modules provide. */
  controlCommands?: Readonly<Record<string, ControlCommand>>;
}

/** All modules, without transports. */
export interface Modules {
  config: Config;
  clock: Clock;
  logger: Logger;
  db: Database;
  outbox: Outbox;
  mail: Mail;
  owners: Owners;
  avatars: Avatars;
  accounts: Accounts;
  organisations: Organisations;
  signing: Signing;
  singleSignOn: SingleSignOn;
  git: Git;
  repositories: Repositories;
  objects: ObjectStore;
  objectStatistics: OpenedStore['statistics'];
  /** The folder of a server whose objects are in a bucket: what has not been copied yet. */
  objectFolder: ObjectStore | null;
  lfs: Lfs;
  issues: Issues;
  pulls: Pulls;
  releases: Releases;
  imageProxy: ImageProxy;
  search: Search;
  codeSearch: CodeSearch;
  federation: Federation;
  ci: Ci;
  webhooks: Webhooks;
  notices: Notices;
  notifications: Notifications;
  mirrors: Mirrors;
  backups: Backups;
  audit: Audit;
  workers: WorkerPool;
  counts(): Promise<InstanceCounts>;
  storage: StorageUsage;
  /** Ends running work and closes the database. */
  close(): Promise<void>;
}

export interface ListeningAt {
  host: string;
  port: number;
}

export interface Addresses {
  http: ListeningAt;
  /**
   * `null` when SSH is off. With the system's sshd, the port that clients reach; the fingerprint of its key is unknown.
   */
  ssh: (ListeningAt & { fingerprint: string | null }) | null;
  grpc: ListeningAt;
}

export interface App {
  readonly modules: Modules;
  /** Opens the ports and starts the scheduler; recovery of pushes and runs goes on in the background. */
  start(): Promise<Addresses>;
  /** Stops listening, lets running pushes and clones end within `graceMs`, then closes the modules. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/** Every mapped table. */
export const entities = [
  ...auditEntities,
  ...outboxEntities,
  handleSchema,
  avatarSchema,
  ...accountEntities,
  ...organisationEntities,
  ...signingEntities,
  ...repositoryEntities,
  ...lfsEntities,
  ...issueEntities,
  ...pullEntities,
  ...releaseEntities,
  ...ciEntities,
  ...federationEntities,
  ...webhookEntities,
  ...noticeEntities,
  ...notificationEntities,
  ...mirrorEntities,
] as unknown as EntitySchema<never>[];

/** The schema version after all migrations. */
export const newestSchema = Math.max(...migrations.map(({ version }) => version));

export function databaseFile(config: Config): string {
  return databaseFileIn(config.dataDir);
}

/** Opens only the database, which is all that `hearth migrate` needs. */
export function openDatabase(
  config: Config,
  { logger, clock = systemClock, onStorageFault, writing }: AppOptions,
  migrate: 'always' | 'when-new' | 'never',
): Promise<Database> {
  return createDatabase({
    file: databaseFile(config),
    entities,
    migrations,
    clock,
    logger,
    snapshotDirectory: path.join(config.dataDir, 'backups'),
    migrate,
    ...(onStorageFault === undefined ? {} : { onStorageFault }),
    ...(writing === undefined ? {} : { writing }),
  });
}

/**
 * The modules without transports: what a command of the command line uses, also beside a running server. Refuses
 * `schema_behind` when the database needs a migration, `schema_newer`, `git_missing` and `git_too_old`.
 */
export async function openModules(
  config: Config,
  options: AppOptions,
  migrate: 'always' | 'when-new' = 'when-new',
): Promise<Modules> {
  const { clock = systemClock, random = systemRandom } = options;
  const opening = openDatabase(config, options, migrate);
  // git's version is read while the database opens; a refusal is thrown after it.
  const findingGit = createGit({ config, logger: options.logger });
  findingGit.catch(() => {});
  const db = await opening;
  try {
    const audit = createAudit({
      db,
      clock,
      logger: options.logger,
      otherwise: migrate === 'always' ? 'server' : 'local',
    });
    const logger = audit.auditing(options.logger);
    const workers = createWorkerPool({ embedded, logger });
    const forStore = storeOptions(config, { clock, random, logger });
    const opened = await openStore(forStore);
    const { store: objects } = opened;
    const imagesOf = (kind: ObjectImageStoreOptions['kind']) =>
      objects.place === 'folder'
        ? createImageStore({ directory: imageFolder(config, kind), clock, random, logger })
        : createObjectImageStore({ objects, kind, clock, logger });
    // Before the first write: the index is updated at the end of every write.
    const search = createSearch({ db, logger });
    const outbox = createOutbox({ db, clock, logger });
    const mail = createMail({ config, keyFile: keyFile(config.dataDir), db, outbox, clock, random, logger });
    const owners = createOwners({ db });
    const avatars = createAvatars({ db, logger, store: imagesOf('avatars') });
    const accounts = createAccounts({
      db,
      owners,
      clock,
      random,
      logger,
      config,
      mail,
      instanceKey: new InstanceKey(keyFile(config.dataDir), random, 'accounts'),
    });
    const organisations = createOrganisations({ db, owners, accounts, avatars, random, logger });
    const signing = createSigning({
      db,
      accounts,
      workers,
      instanceKey: new InstanceKey(keyFile(config.dataDir), random, 'signing'),
      clock,
      random,
      logger,
      settings: { maxKeysPerPerson: config.keys.maxPerPerson },
    });
    const singleSignOn = createSingleSignOn({
      config,
      keyFile: keyFile(config.dataDir),
      version: embedded.version,
      accounts,
      organisations,
      clock,
      random,
      logger,
    });
    accounts.onSignUp(organisations.joinInvited);
    const git = await findingGit;
    const repositories = createRepositories({
      db,
      owners,
      accounts,
      organisations,
      git,
      images: imagesOf('repositories'),
      trashedImages: imagesOf('trash'),
      clock,
      random,
      logger,
      settings: repositorySettings(config),
      signCommit: signing.signCommit,
    });
    organisations.owning(repositories.ownedRepositories);
    repositories.rules.verifyCommitsWith((objects, client) => signing.verify(objects, client));
    accounts.onAccountDeletion(async (tx, personId) => {
      await organisations.refuseOnlyOwner(tx, personId);
      await repositories.refuseOwner(tx, personId);
      await avatars.forget(tx, personId);
      const emptyTrash = await repositories.ownedRepositories.detachTrash(tx, personId);
      return async () => {
        await emptyTrash();
        await avatars.remove(personId);
      };
    });
    // The first listener of a push: a runner may be waiting for its jobs.
    const ci = createCi({
      db,
      accounts,
      repositories,
      git,
      objects,
      workers,
      clock,
      random,
      logger,
      settings: ciSettings(config, keyFile(config.dataDir)),
    });
    repositories.pushes.onPush(ci.onPush);
    const texts = createIssueIndex({ db });
    const lfs = createLfs({
      db,
      accounts,
      repositories,
      git,
      objects,
      instanceKey: new InstanceKey(keyFile(config.dataDir), random, 'lfs'),
      clock,
      random,
      logger,
      settings: lfsSettingsOf(config),
    });
    repositories.forks.copyWith(lfs.copyPort);
    repositories.pushes.remarkWith(lfs.remarkOnMissing);
    const exportKey = new InstanceKey(keyFile(config.dataDir), random, 'issues');
    const issues = createIssues({
      db,
      accounts,
      organisations,
      owners,
      repositories,
      git,
      objects,
      clock,
      random,
      logger,
      texts,
      settings: { ...issueSettingsOf(config), baseUrl: config.baseUrl },
      sealExport: (sha256) => exportKey.digest('export', sha256),
    });
    const pulls = createPulls({
      db,
      accounts,
      organisations,
      owners,
      repositories,
      issues,
      git,
      clock,
      random,
      logger,
      signCommit: signing.signCommit,
      baseUrl: config.baseUrl,
      contributedPushBytes: config.pulls.contributedPushSizeBytes,
      queueTimeoutMs: config.pulls.queueTimeoutMs,
      contributedBytes: config.pulls.contributedSizeBytes,
      isDiskLow: (folder) => isDiskLow(folder, config.storage.lowDiskFloorBytes),
    });
    repositories.pushes.forRefs(pulls.pushesFor);
    repositories.statuses.onChange(pulls.onStatus);
    repositories.pushes.onPush(pulls.onPush);
    repositories.pushes.onPush(issues.onPush);
    const releases = createReleases({
      db,
      accounts,
      repositories,
      pulls,
      git,
      objects,
      clock,
      random,
      logger,
      settings: releaseSettingsOf(config),
    });
    repositories.pushes.onPush(releases.onPush);
    const imageProxy = createImageProxy({
      config,
      keyFile: keyFile(config.dataDir),
      folder: path.join(config.dataDir, 'cache', 'images'),
      version: embedded.version,
      clock,
      random,
      logger,
    });
    const webhooks = createWebhooks({
      config,
      keyFile: keyFile(config.dataDir),
      version: embedded.version,
      db,
      outbox,
      accounts,
      repositories,
      issues,
      pulls,
      git,
      clock,
      random,
      logger,
    });
    repositories.pushes.onPush(webhooks.onPush);
    repositories.forks.onFork(webhooks.onFork);
    issues.onEntry(pulls.onEntry);
    issues.onEntry(webhooks.onEntry);
    ci.onRunEnd(webhooks.onRunEnd);
    const notices = createNotices({ db, accounts, mail, logger, baseUrl: config.baseUrl });
    const notifications = createNotifications({
      db,
      accounts,
      repositories,
      issues,
      mail,
      key: new InstanceKey(keyFile(config.dataDir), random, 'notifications'),
      clock,
      random,
      logger,
      settings: { baseUrl: config.baseUrl, keepDoneMs: config.notifications.keepDoneDays * 24 * 60 * 60_000 },
    });
    issues.onEntry(ci.onPull({ issues, pulls }));
    pulls.queue.testBy(ci.pulls.candidateTests);
    ci.onRunEnd(pulls.queue.onRunEnd);
    issues.onEntry(notifications.onEntry);
    ci.onRunEnd(notifications.onRunEnd);
    releases.onEvent(ci.onRelease);
    releases.onEvent(webhooks.onRelease);
    releases.onEvent(notifications.onRelease);
    const mirrors = createMirrors({
      config,
      keyFile: keyFile(config.dataDir),
      db,
      repositories,
      lfs,
      releases,
      git,
      clock,
      random,
      logger,
    });
    repositories.pushes.refuse(mirrors.guard);
    repositories.pushes.onPush(mirrors.onPush);
    const backups = createBackups({
      config,
      db,
      git,
      objects,
      objectKinds,
      clock,
      random,
      logger,
      version: embedded.version,
    });
    const codeSearch = createCodeSearch({
      db,
      git,
      repositories,
      logger,
      folder: path.join(config.dataDir, 'cache'),
      limits: {
        budgetBytes: config.search.codeIndexBudgetBytes,
        repositoryBytes: config.search.codeRepositoryLimitBytes,
      },
      lowDiskFloorBytes: config.storage.lowDiskFloorBytes,
    });
    const federation = createFederation({ config, db, accounts, owners, repositories, git, clock, random, logger });
    accounts.onAccountDeletion(async (tx, personId) => {
      await federation.endAllFollows(tx, personId);
      return async () => {};
    });
    return {
      config,
      clock,
      logger,
      db,
      outbox,
      mail,
      owners,
      avatars,
      accounts,
      organisations,
      signing,
      singleSignOn,
      git,
      repositories,
      objects,
      objectStatistics: opened.statistics,
      objectFolder: objects.place === 'folder' ? null : createFolderStore(forStore),
      lfs,
      issues,
      pulls,
      releases,
      imageProxy,
      search,
      codeSearch,
      federation,
      ci,
      webhooks,
      notices,
      notifications,
      mirrors,
      backups,
      audit,
      workers,
      counts: () => countInstance(db, clock.now()),
      storage: createStorageUsage(db),
      async close() {
        await releases.saveDownloads();
        await ci.stop();
        workers.stop();
        await outbox.stop();
        webhooks.stop();
        mail.stop();
        await mirrors.stop();
        await federation.stop();
        singleSignOn.stop();
        await repositories.stop();
        await pulls.stop();
        await issues.stop();
        await notifications.stop();
        imageProxy.stop();
        opened.close();
        await codeSearch.stop();
        await git.stop();
        await accounts.stop();
        await search.close();
        await texts.close();
        await audit.flush();
        await db.close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** The path is older than the module `sealing`; one key encrypts the secrets of all modules. */
const keyFile = (dataDir: string): string => path.join(dataDir, 'ci', 'secret.key');

/** Where images are while objects are in a folder. */
export const imageFolder = (config: Config, kind: ObjectImageStoreOptions['kind']): string =>
  kind === 'repositories'
    ? config.repositories.imageRoot
    : path.join(config.dataDir, ...(kind === 'trash' ? ['trash', 'images'] : ['avatars']));

/** Artifacts and logs lie where they always were, beside what CI is still writing. */
export const storeOptions = (
  config: Config,
  tools: Pick<StoreOptions, 'clock' | 'random' | 'logger'>,
): StoreOptions => ({
  ...tools,
  config,
  directory: path.join(config.dataDir, 'objects'),
  elsewhere: {
    'artifacts/': path.join(config.dataDir, 'ci', 'artifacts'),
    'logs/': path.join(config.dataDir, 'ci', 'logs'),
  },
  lowDiskFloorBytes: () => config.storage.lowDiskFloorBytes,
});

/** Builds the whole server; it does not listen before `start`. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  // The transports need the larger libraries: commands that only open modules never load them.
  const edges = Promise.all([
    import('./http/index.ts'),
    import('./pages/index.ts'),
    import('./ssh/index.ts'),
    import('./http-runner/index.ts'),
    import('./scheduler/index.ts'),
    import('./control/index.ts'),
  ]);
  const modules = await openModules(config, options, 'always');
  const { accounts, avatars, ci, clock, db, federation, git, logger, organisations, owners, repositories } = modules;
  const [
    { createProbe },
    { createWebServer },
    { createSshServer, sshdControlCommands },
    { createRpcServer },
    { createTaskRuns, createScheduler, schedulerControlCommands, packingControlCommands, pushControlCommands },
    { createControlServer },
  ] = await edges;
  const runs = createTaskRuns({ db, clock });

  let addresses: Addresses | null = null;
  let stopping = false;
  const forSsh = {
    config,
    accounts,
    repositories,
    issues: modules.issues,
    lfs: modules.lfs,
    pulls: modules.pulls,
    notifications: modules.notifications,
    git,
    workers: modules.workers,
    logger,
    clock,
  };
  const ssh = config.ssh.enabled && !config.ssh.systemSshd ? createSshServer(forSsh) : null;
  const rpc = createRpcServer({ config, ci, clock, logger });
  const probe = createProbe(config);
  const web = createWebServer({
    db,
    probe,
    config,
    clock,
    logger,
    accounts,
    owners,
    avatars,
    organisations,
    signing: modules.signing,
    singleSignOn: modules.singleSignOn,
    repositories,
    federation,
    ci,
    issues: modules.issues,
    lfs: modules.lfs,
    pulls: modules.pulls,
    releases: modules.releases,
    webhooks: modules.webhooks,
    mail: modules.mail,
    notices: modules.notices,
    outbox: modules.outbox,
    notifications: modules.notifications,
    mirrors: modules.mirrors,
    git,
    search: modules.search,
    codeSearch: modules.codeSearch,
    runners: rpc,
    audit: modules.audit,
    workers: modules.workers,
    imageProxy: modules.imageProxy,
    objectStatistics: modules.objectStatistics,
    backups: modules.backups,
    counts: modules.counts,
    storage: modules.storage,
    origins: options.origins ?? new Map(),
    scheduledTasks: async () => {
      const known = new Map((await runs.list()).map((run) => [run.name, run]));
      return schedule.tasks.map(({ name, time }) => ({ name, time, last: known.get(name) ?? null }));
    },
    ssh: () => addresses?.ssh ?? null,
    unready: async () => {
      const [steps, storage, hasGit] = await Promise.all([
        db.schema().catch(() => null),
        storageFault(config),
        git.isUsable(),
      ]);
      return [
        ...(stopping ? ['draining'] : addresses === null ? ['starting'] : []),
        ...(steps === null ? ['database'] : steps.some((step) => step.state === 'pending') ? ['migrations'] : []),
        ...(hasGit ? [] : ['git']),
        ...(storage === null ? [] : [storage]),
      ];
    },
  });
  const schedule: Scheduler = createScheduler({
    logger,
    clock,
    runs,
    tasks: scheduledTasks(modules),
  });
  const control = createControlServer({
    dataDir: config.dataDir,
    logger,
    commands: {
      ...options.controlCommands,
      ...(config.ssh.systemSshd ? sshdControlCommands(forSsh) : {}),
      ...schedulerControlCommands(schedule),
      ...pushControlCommands(modules),
      ...packingControlCommands(modules),
      'address.probe': probe.command,
    },
  });

  return {
    modules: modules,
    async start() {
      await modules.search.recover();
      await repositories.recover();
      await Promise.all([
        avatars.recover(),
        federation.recover(),
        ci.recover(),
        modules.mirrors.recover(),
        modules.outbox.recover(),
        modules.objects.sweep(),
      ]);
      const [http, sshAt, grpc] = await Promise.all([
        web.listen(),
        ssh === null ? null : ssh.listen(),
        rpc.listen(),
        control.listen(),
      ]);
      const ofTheMachine = config.ssh.systemSshd
        ? { host: '0.0.0.0', port: config.ssh.publicPort ?? 22, fingerprint: null }
        : null;
      addresses = { http, ssh: sshAt ?? ofTheMachine, grpc };
      // After listening: neither recovery of pushes nor a workflow file may keep the server from starting.
      void repositories.pushes
        .recover()
        .then(() => (stopping ? undefined : modules.pulls.finishPushOptions({ olderThanMs: 0 })))
        .catch((error: unknown) => logger.error('pull.push_options_failed', { error }));
      void modules.issues.recoverEntries();
      void modules.notifications.tell();
      modules.pulls.queue.advanceAll().catch((error: unknown) => logger.error('pull.queue_failed', { error }));
      ci.advanceRuns().catch((error: unknown) => logger.error('ci.advance_failed', { error }));
      schedule.start();
      setTimeout(() => git.useSpawner(), 500).unref(); // after the start, which it would delay
      return addresses;
    },
    async stop({ graceMs = 30_000 } = {}) {
      stopping = true;
      repositories.pushes.abortRecovery();
      await Promise.all([
        rpc.stop({ graceMs }),
        web.stop({ graceMs }),
        ssh?.stop({ graceMs }),
        control.stop({ graceMs }),
        federation.stop(),
        schedule.stop(),
      ]);
      await modules.close();
    },
  };
}

/** All scheduled tasks; `hearth cron run` runs one of them without a server. */
export function scheduledTasks(modules: Modules): CronTask[] {
  const { accounts, backups, ci, codeSearch, config, federation, git, repositories, webhooks } = modules;
  return [
    {
      name: 'trash.empty',
      time: '0 10 4 * * *',
      run: async () => (await backups.isRunning()) || repositories.trash.empty(),
    },
    { name: 'pushes.let-go', time: '0 50 1 * * *', run: () => repositories.pushes.releaseOverwrittenTips() },
    {
      name: 'git.pack',
      time: '0 0 2 * * *',
      run: () => import('./scheduler/index.ts').then(({ packRepositories }) => packRepositories(modules, 1.25)),
    },
    ...(config.backup.nightly ? [{ name: 'backup.nightly', time: '0 30 3 * * *', run: () => backups.nightly() }] : []),
    { name: 'pushes.finish', time: '30 * * * * *', run: () => repositories.pushes.finish() },
    { name: 'issues.announce', time: '35 * * * * *', run: () => modules.issues.finishEntries() },
    {
      name: 'pulls.push-options',
      time: '40 * * * * *',
      run: () => modules.pulls.finishPushOptions({ olderThanMs: 60_000 }),
    },
    { name: 'pulls.merge-ready', time: '25 * * * * *', run: () => modules.pulls.mergeAllReady() },
    { name: 'pulls.merge-queues', time: '20 * * * * *', run: () => modules.pulls.queue.advanceAll() },
    {
      name: 'pulls.release-rounds',
      time: '0 18 4 * * *',
      run: async () => (await backups.isRunning()) || modules.pulls.releaseRounds(),
    },
    {
      name: 'issues.empty-trash',
      time: '0 15 4 * * *',
      run: async () => (await backups.isRunning()) || modules.issues.emptyTrash(),
    },
    {
      name: 'issues.remove-files',
      time: '0 25 4 * * *',
      run: async () => (await backups.isRunning()) || modules.issues.removeUnusedAttachments(),
    },
    {
      name: 'releases.remove-files',
      time: '0 28 4 * * *',
      run: async () => (await backups.isRunning()) || modules.releases.removeOrphans(),
    },
    { name: 'releases.count-downloads', time: '55 * * * * *', run: () => modules.releases.saveDownloads() },
    {
      name: 'lfs.collect',
      time: '0 20 5 * * 0',
      run: () => collectLfs(modules),
    },
    { name: 'repositories.survey', time: '50 */10 * * * *', run: () => repositories.statistics.updateDue() },
    { name: 'repositories.measure', time: '0 10 3 * * *', run: () => repositories.statistics.measureAll() },
    { name: 'ci.sweep', time: '*/15 * * * * *', run: () => ci.sweep() },
    { name: 'ci.remove-old', time: '0 40 4 * * *', run: async () => (await backups.isRunning()) || ci.removeOld() },
    ...(modules.objects.place === 'folder'
      ? []
      : [{ name: 'ci.store-logs', time: '35 * * * * *', run: () => ci.storeLogs() }]),
    { name: 'ci.schedules', time: '5 * * * * *', run: () => ci.runSchedules() },
    {
      name: 'git.maintain',
      time: '40 * * * * *',
      run: () => git.maintenance.run(async () => !(await backups.isRunning())),
    },
    { name: 'mirrors.sync', time: '20 * * * * *', run: () => modules.mirrors.runDue() },
    { name: 'webhooks.deliver', time: '*/10 * * * * *', run: () => webhooks.drain() },
    { name: 'notifications.tell', time: '45 * * * * *', run: () => modules.notifications.tell() },
    { name: 'notifications.remove-old', time: '0 35 4 * * *', run: () => modules.notifications.removeOld() },
    { name: 'webhooks.remove-old', time: '0 45 4 * * *', run: () => webhooks.removeOld() },
    { name: 'mail.send', time: '*/10 * * * * *', run: () => modules.mail.drain() },
    { name: 'mail.remove-old', time: '0 55 4 * * *', run: () => modules.mail.removeOld() },
    { name: 'code-search.update', time: '15 */5 * * * *', run: () => codeSearch.update() },
    { name: 'images.sweep', time: '0 25 4 * * *', run: () => modules.imageProxy.evict() },
    { name: 'sessions.sweep', time: '0 20 4 * * *', run: () => accounts.removeExpired() },
    ...(federation.isOperational ? federationTasks(federation, config) : []),
  ];
}

/** Stops between two repositories while a backup is made. */
async function collectLfs({ lfs, backups }: Modules): Promise<void> {
  const shouldContinue = async (): Promise<boolean> => !(await backups.isRunning());
  for await (const { problem } of lfs.collection.scan({ removes: true, shouldContinue })) void problem;
  if (await shouldContinue()) await lfs.collection.removeOrphans();
}

/**
 * SPEC §8: deliveries are drained every ten seconds. The scan of followed people selects those who are due by the
 * configured interval.
 */
function federationTasks(federation: Federation, { federation: { userResyncIntervalMs } }: Config): CronTask[] {
  return [
    { name: 'federation.deliver', time: '*/10 * * * * *', run: () => federation.drain() },
    {
      name: 'federation.scan',
      time: userResyncIntervalMs < 30_000 ? '* * * * * *' : '*/5 * * * * *',
      run: () => federation.scanDuePeople(),
    },
    { name: 'federation.sweep', time: '0 30 4 * * *', run: () => federation.removeOld() },
  ];
}
