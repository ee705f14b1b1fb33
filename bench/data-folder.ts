// A data folder that is filled before a server starts on it: people with sessions, and the bare database.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openModules } from '../src/app/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { createDatabase, databaseFileIn } from '../src/db/index.ts';
import type { Database } from '../src/db/index.ts';
import { silentLogger, systemClock } from '../src/kernel/index.ts';
import { migrations } from '../migrations/index.ts';

type Modules = Awaited<ReturnType<typeof openModules>>;

/** Opens the modules on a data folder, which is made when it is missing. */
export async function openModulesIn(dataFolder: string): Promise<Modules> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const { config } = loadConfig({ env: { SERVICE_DATA_DIR: dataFolder }, cwd: dataFolder, readFile: () => '' });
  return openModules(config, { logger: silentLogger }, 'always');
}

/** A person with a session. */
export async function addPerson(
  { accounts }: Modules,
  username: string,
  isAdministrator = false,
): Promise<{ id: string; session: string }> {
  const password = `${username} has a long password`;
  const { id } = await accounts.addPerson({ username, password, isAdministrator });
  const { secret } = await accounts.startSession(id, { address: '127.0.0.1', userAgent: 'bench' });
  return { id, session: secret };
}

/** Without the modules, whose writes would each update the search index; the first start indexes all at once. */
export function openBareDatabase(dataFolder: string): Promise<Database> {
  return createDatabase({
    file: databaseFileIn(dataFolder),
    entities: [],
    migrations,
    clock: systemClock,
    logger: silentLogger,
    snapshotDirectory: path.join(dataFolder, '../backups'),
    migrate: 'always',
  });
}
