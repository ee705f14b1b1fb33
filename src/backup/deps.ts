import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectKind, ObjectStore } from '../objects/index.ts';

/** The dependencies of the use-cases of this module. */
export interface BackupDeps {
  config: Pick<Config, 'dataDir' | 'instanceKeyFile' | 'storage' | 'repositories' | 'backup' | 'objects'>;
  db: Database;
  git: Pick<Git, 'maintenance' | 'refs' | 'storage'>;
  objects: ObjectStore;
  /** Objects in a bucket, if objects are stored there. */
  objectKinds: readonly ObjectKind[];
  clock: Clock;
  random: Random;
  logger: Logger;
  /** The program's version, for the manifest. */
  version: string;
}

/** The progress of a long operation. */
interface Progress {
  done: number;
  total: number;
  /** The current item. */
  item: string;
}

export type OnProgress = (progress: Progress) => void;

/** A data folder that is copied unchanged, and its path in a backup. */
interface BackupFolder {
  relativePath: string;
  at: string;
}

/** All folders besides the database and the repositories, which are copied separately. */
export function dataFolders({ dataDir, repositories }: BackupDeps['config']): BackupFolder[] {
  const below = (name: string): BackupFolder => ({ relativePath: name, at: path.join(dataDir, name) });
  return [
    { relativePath: 'repo-images', at: repositories.imageRoot },
    below('avatars'),
    below('ssh'),
    below('lfs'),
    below('objects'),
    below('ci'),
    { relativePath: 'trash/images', at: path.join(dataDir, 'trash', 'images') },
  ];
}

/** The instance key in a backup, wherever the settings have it. */
export const instanceKeyName = 'ci/secret.key';

/** Files with these names are keys; only `--with-keys` includes them. */
export const isKeyFile = (relativePath: string): boolean =>
  relativePath === instanceKeyName ||
  relativePath.startsWith('secrets/') ||
  (relativePath.startsWith('ssh/') && !relativePath.endsWith('.pub') && !relativePath.endsWith('/known_hosts'));

export const databaseName = 'hearth.db';

export const databasePath = ({ dataDir }: Pick<Config, 'dataDir'>): string => path.join(dataDir, databaseName);
