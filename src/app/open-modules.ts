import type { Config } from '../config/index.ts';
import { createStorageUsage, readInstanceStatistics } from '../doctor/index.ts';
import { connectPorts } from './connect-ports.ts';
import { openDatabase } from './database.ts';
import { partsOf, stopAll } from './lifecycle.ts';
import type { AppOptions } from './app-options.ts';
import type { Modules } from './modules.ts';
import { openConnections } from './open-connections.ts';
import { openPeople } from './open-people.ts';
import { openRepositories } from './open-repositories.ts';
import { createGitOf, openGit } from './open-git.ts';
import { openStorage } from './open-storage.ts';
import { createRecoveryDrill } from './recovery-drill.ts';
import { subscribe } from './subscriptions.ts';

/**
 * The modules without transports: for commands, even while a server is running. Throws `schema_behind` if the database
 * needs a migration, `schema_newer`, `git_missing` and `git_too_old`.
 */
export async function openModules(
  config: Config,
  options: AppOptions,
  migrate: 'always' | 'when-new' = 'when-new',
): Promise<Modules> {
  const opening = openDatabase(config, options, migrate);
  // Reads git's version while the database opens; an error is thrown after that.
  const findingGit = createGitOf(config, options.logger);
  findingGit.catch(() => {});
  const db = await opening;
  try {
    const storage = await openStorage(config, options, { db, writesAudit: migrate === 'always' ? 'server' : 'local' });
    const people = openPeople(storage);
    const { git, bucket, repositoryCache } = await openGit(storage, await findingGit, storage.onReplaced);
    const code = openRepositories(storage, people, git);
    const connections = openConnections(storage, people, code);
    const opened = { ...storage, ...people, ...code, ...connections };
    const parts = partsOf(opened, bucket);
    const modules: Modules = {
      ...opened,
      parts,
      repositoryCache,
      recovery: bucket === null ? null : createRecoveryDrill(storage),
      counts: () => readInstanceStatistics(db, storage.clock.now()),
      storage: createStorageUsage(db),
      close: () => stopAll(parts),
    };
    connectPorts(modules);
    subscribe(modules);
    return modules;
  } catch (error) {
    await db.close();
    throw error;
  }
}
