import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { RepositorySettings } from './deps.ts';

/** The settings of repositories; read at each use, since a running server may reload them. */
export function repositorySettings(config: Config): RepositorySettings {
  return {
    trashDirectory: path.join(config.dataDir, 'trash'),
    get trashTtlMs() {
      return config.repositories.trashKeepMs;
    },
    get undoTtlMs() {
      return config.repositories.undoKeepMs;
    },
    get pushTtlMs() {
      return config.repositories.pushKeepMs;
    },
    get lowDiskFloorBytes() {
      return config.storage.lowDiskFloorBytes;
    },
    get pushToCreate() {
      return config.repositories.pushToCreate;
    },
    get maxChangeBytes() {
      return config.repositories.maxChangeBytes;
    },
    // The slowest listener lists the commits and files of a push of thousands of refs: seconds. A minute suffices on a
    // loaded machine, and three of them pass unnoticed.
    listenerTimeoutMs: 60_000,
    // Settling is one git process. Proxies give up after a minute, git's client not at all.
    recoveryWaitMs: 30_000,
  };
}
