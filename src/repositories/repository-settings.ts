import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { RepositorySettings } from './deps.ts';

/** Repository settings; read at each use, since a running server may reload them. */
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
    // The slowest listener takes seconds to list the commits and files of a push of thousands of refs. A minute
    // suffices on a loaded machine, and three minutes go unnoticed.
    listenerTimeoutMs: 60_000,
    // Settling takes one git process. Proxies time out after a minute, git's client never does.
    recoveryWaitMs: 30_000,
  };
}
