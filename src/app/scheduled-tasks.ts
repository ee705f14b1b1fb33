import type { Config } from '../config/index.ts';
import type { Federation } from '../federation/index.ts';
import type { CronTask } from '../scheduler/index.ts';
import type { Modules } from './modules.ts';

/**
 * All scheduled tasks; `hearth cron run` runs one of them without a server. Each node runs the tasks that complete its
 * own work, maintain its folders, count its requests, or claim rows one by one.
 */
export function scheduledTasks(modules: Modules): CronTask[] {
  const { accounts, backups, ci, codeSearch, config, federation, git, recovery, repositories, webhooks } = modules;
  return [
    {
      name: 'trash.empty',
      time: '0 10 4 * * *',
      run: async () => (await backups.isRunning()) || repositories.trash.empty(),
    },
    { name: 'pushes.let-go', time: '0 50 1 * * *', run: () => repositories.pushes.releaseOverwrittenTips() },
    {
      name: 'pushes.remove-old',
      time: '0 48 4 * * *',
      run: async () => (await modules.backups.isRunning()) || repositories.pushes.removeOld(),
    },
    {
      name: 'git.pack',
      time: '0 0 2 * * *',
      onEachNode: true,
      run: () => import('../scheduler/index.ts').then(({ packRepositories }) => packRepositories(modules, 1.25)),
    },
    ...(config.backup.nightly ? [{ name: 'backup.nightly', time: '0 30 3 * * *', run: () => backups.nightly() }] : []),
    ...(recovery === null
      ? []
      : [
          {
            name: 'recovery.drill',
            time: '0 20 6 * * *',
            run: () => recovery.run({ shouldContinue: async () => !(await backups.isRunning()) }),
          },
        ]),
    { name: 'pushes.finish', time: '30 * * * * *', onEachNode: true, run: () => repositories.pushes.finish() },
    { name: 'issues.announce', time: '35 * * * * *', run: () => modules.issues.finishEntries() },
    {
      name: 'pulls.push-options',
      time: '40 * * * * *',
      onEachNode: true,
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
    ...(config.integrity.windowMs === 0
      ? []
      : [{ name: 'integrity.read', time: '0 30 5 * * *', run: () => readEverything(modules) }]),
    {
      name: 'releases.count-downloads',
      time: '55 * * * * *',
      onEachNode: true,
      run: () => modules.releases.saveDownloads(),
    },
    {
      name: 'packages.retain',
      time: '0 5 5 * * *',
      run: () => modules.packages.retention.applyAll({ shouldContinue: async () => !(await backups.isRunning()) }),
    },
    {
      name: 'packages.collect',
      time: '0 30 5 * * *',
      run: () => modules.packages.collect({ shouldContinue: async () => !(await backups.isRunning()) }),
    },
    {
      name: 'packages.count-downloads',
      time: '50 * * * * *',
      onEachNode: true,
      run: () => modules.packages.saveDownloads(),
    },
    {
      name: 'lfs.collect',
      time: '0 20 5 * * 0',
      run: () => collectLfs(modules),
    },
    { name: 'repositories.survey', time: '50 */10 * * * *', run: () => repositories.statistics.updateDue() },
    { name: 'repositories.measure', time: '0 10 3 * * *', run: () => repositories.statistics.measureAll() },
    { name: 'ci.sweep', time: '*/15 * * * * *', onEachNode: true, run: () => ci.sweep() },
    { name: 'ci.remove-old', time: '0 40 4 * * *', run: async () => (await backups.isRunning()) || ci.removeOld() },
    ...(modules.objects.place === 'folder'
      ? []
      : [{ name: 'ci.store-logs', time: '35 * * * * *', onEachNode: true, run: () => ci.storeLogs() }]),
    { name: 'ci.schedules', time: '5 * * * * *', run: () => ci.runSchedules() },
    {
      name: 'git.maintain',
      time: '40 * * * * *',
      onEachNode: true,
      run: () => git.maintenance.run(async () => !(await backups.isRunning())),
    },
    { name: 'imports.run', time: '10 * * * * *', onEachNode: true, run: () => modules.imports.runDue() },
    { name: 'copies.tend', time: '*/15 * * * * *', run: () => modules.copies.tend() },
    { name: 'mirrors.sync', time: '20 * * * * *', onEachNode: true, run: () => modules.mirrors.runDue() },
    { name: 'webhooks.deliver', time: '*/10 * * * * *', onEachNode: true, run: () => webhooks.drain() },
    { name: 'notifications.tell', time: '45 * * * * *', run: () => modules.notifications.tell() },
    { name: 'notifications.remove-old', time: '0 35 4 * * *', run: () => modules.notifications.removeOld() },
    { name: 'webhooks.remove-old', time: '0 45 4 * * *', run: () => webhooks.removeOld() },
    { name: 'mail.send', time: '*/10 * * * * *', onEachNode: true, run: () => modules.mail.drain() },
    { name: 'mail.remove-old', time: '0 55 4 * * *', run: () => modules.mail.removeOld() },
    { name: 'code-search.update', time: '15 */5 * * * *', onEachNode: true, run: () => codeSearch.update() },
    { name: 'images.sweep', time: '0 25 4 * * *', onEachNode: true, run: () => modules.imageProxy.evict() },
    { name: 'oauth.sweep', time: '10 */10 * * * *', run: () => modules.oauth.removeExpired() },
    { name: 'oauth.rotate-keys', time: '0 50 4 * * *', run: () => modules.oauth.keys.rotate() },
    { name: 'sessions.sweep', time: '0 20 4 * * *', run: () => accounts.removeExpired() },
    ...(federation.isOperational ? federationTasks(federation, config) : []),
  ];
}

async function readEverything(modules: Modules): Promise<unknown> {
  const { runIntegrityPass } = await import('../doctor/index.ts');
  return runIntegrityPass(modules, async () => !(await modules.backups.isRunning()));
}

/** Stops between two repositories while a backup is running. */
async function collectLfs({ lfs, backups }: Modules): Promise<void> {
  const shouldContinue = async (): Promise<boolean> => !(await backups.isRunning());
  for await (const { problem } of lfs.gc.scan({ removes: true, shouldContinue })) void problem;
  if (await shouldContinue()) await lfs.gc.removeOrphans();
}

/**
 * SPEC §8: deliveries are sent every ten seconds. The scan of followed users selects those that are due by the
 * configured interval.
 */
function federationTasks(federation: Federation, { federation: { userResyncIntervalMs } }: Config): CronTask[] {
  return [
    { name: 'federation.deliver', time: '*/10 * * * * *', onEachNode: true, run: () => federation.drain() },
    {
      name: 'federation.scan',
      time: userResyncIntervalMs < 30_000 ? '* * * * * *' : '*/5 * * * * *',
      run: () => federation.scanDuePeople(),
    },
    { name: 'federation.check', time: '0 20 */6 * * *', run: () => federation.checkFollowed() },
    { name: 'federation.sweep', time: '0 30 4 * * *', run: () => federation.removeOld() },
  ];
}
