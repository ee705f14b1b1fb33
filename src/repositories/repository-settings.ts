import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { RepositorySettings } from './room.ts';

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
  };
}
