import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { ObjectImageStoreOptions } from '../images/index.ts';
import type { StoreOptions } from '../objects/index.ts';

/** Folder of images while objects are in a folder. */
export const imageFolder = (config: Config, kind: ObjectImageStoreOptions['kind']): string =>
  kind === 'repositories'
    ? config.repositories.imageRoot
    : path.join(config.dataDir, ...(kind === 'trash' ? ['trash', 'images'] : ['avatars']));

/** Artifacts and logs keep their original location, next to files that CI is still writing. */
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
