import path from 'node:path';
import { createAccounts } from '../accounts/index.ts';
import { createAudit } from '../audit/index.ts';
import { createBackups } from '../backup/index.ts';
import { ciSettings, createCi } from '../ci/index.ts';
import type { Config } from '../config/index.ts';
import { readInstanceStatistics, createStorageUsage, objectKinds } from '../doctor/index.ts';
import { embedded } from '../embedded/index.ts';
import { createFederation } from '../federation/index.ts';
import { createGit } from '../git/index.ts';
import { createImageProxy } from '../image-proxy/index.ts';
import { createImageStore, createObjectImageStore } from '../images/index.ts';
import type { ObjectImageStoreOptions } from '../images/index.ts';
import { createPulls } from '../pulls/index.ts';
import { createReleases, releaseSettingsOf } from '../releases/index.ts';
import { createIssues, issueSettingsOf } from '../issues/index.ts';
import { createLfs, lfsSettingsOf } from '../lfs/index.ts';
import { systemClock, systemRandom } from '../kernel/index.ts';
import { createFolderStore, openStore } from '../objects/index.ts';
import { createOrganisations } from '../organisations/index.ts';
import { createAvatars, createOwners } from '../owners/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { createRepositories, isDiskLow, repositorySettings } from '../repositories/index.ts';
import { createSingleSignOn } from '../single-sign-on/index.ts';
import { createSigning } from '../signing/index.ts';
import { createCodeSearch, createIssueIndex, createSearch } from '../search/index.ts';
import { createNotifications } from '../notifications/index.ts';
import { createOutbox } from '../outbox/index.ts';
import { createMail } from '../mail/index.ts';
import { createNotices } from '../notices/index.ts';
import { createMirrors } from '../mirrors/index.ts';
import { createWebhooks } from '../webhooks/index.ts';
import { createWorkerPool } from '../workers/index.ts';
import type { AppOptions, Modules } from './modules.ts';
import { openDatabase } from './database.ts';
import { connectPorts } from './connect-ports.ts';
import { keyFile, imageFolder, storeOptions } from './data-folders.ts';

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
      accounts,
      organisations,
      clock,
      random,
      logger,
    });
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
    const ci = createCi({
      db,
      accounts,
      owners,
      repositories,
      git,
      objects,
      workers,
      clock,
      random,
      logger,
      settings: ciSettings(config, keyFile(config.dataDir)),
    });
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
    const imageProxy = createImageProxy({
      config,
      keyFile: keyFile(config.dataDir),
      folder: path.join(config.dataDir, 'cache', 'images'),
      clock,
      random,
      logger,
    });
    const webhooks = createWebhooks({
      config,
      keyFile: keyFile(config.dataDir),
      db,
      outbox,
      accounts,
      organisations,
      repositories,
      issues,
      pulls,
      git,
      clock,
      random,
      logger,
    });
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
    pulls.queue.testBy(ci.pulls.candidateTests);
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
    const modules: Modules = {
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
      counts: () => readInstanceStatistics(db, clock.now()),
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
    connectPorts(modules);
    return modules;
  } catch (error) {
    await db.close();
    throw error;
  }
}
