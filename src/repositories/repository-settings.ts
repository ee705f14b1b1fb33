import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { RepositorySettings } from './deps.ts';

/** What of the settings is about repositories; looked up at each use, since a running server may read them again. */
export function repositorySettings(config: Config): RepositorySettings {
  return {
    trashDirectory: path.join(config.dataDir, 'trash'),
    get trashKeptMs() {
      return config.repositories.trashKeepMs;
    },
    get undoKeptMs() {
      return config.repositories.undoKeepMs;
    },
    get lowDiskFloorBytes() {
      return config.storage.lowDiskFloorBytes;
    },
    get pushToCreate() {
      return config.repositories.pushToCreate;
    },
    // The slowest honest one lists the commits and files of a push of thousands of refs: seconds. A minute is
    // more than a loaded machine needs, and three of them are over before anybody wonders.
    listenerTimeoutMs: 60_000,
    // Settling is one git process. Proxies give up after a minute, git's client not at all.
    recoveryWaitMs: 30_000,
  };
}
