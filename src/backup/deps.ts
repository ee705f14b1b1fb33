import path from 'node:path';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';

/** What the use-cases of this room work with. */
export interface BackupDeps {
  config: Pick<Config, 'dataDir' | 'storage' | 'repositories' | 'backup'>;
  db: Database;
  git: Pick<Git, 'refs' | 'check'>;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Of the program, for the manifest. */
  version: string;
}

/** How far something has come. */
export interface Progress {
  done: number;
  total: number;
  /** What is being worked on. */
  item: string;
}

export type OnProgress = (progress: Progress) => void;

/** A folder of the data that is copied as it stands, and its place in a backup. */
export interface Part {
  place: string;
  at: string;
}

/** Everything besides the database and the repositories, which have ways of their own. */
export function plainParts({ dataDir, repositories }: BackupDeps['config']): Part[] {
  const below = (name: string): Part => ({ place: name, at: path.join(dataDir, name) });
  return [
    { place: 'repo-images', at: repositories.imageRoot },
    below('avatars'),
    below('ssh'),
    below('lfs'),
    below('ci'),
    { place: 'trash/images', at: path.join(dataDir, 'trash', 'images') },
  ];
}

/** Files of these names open what others trust us with; only `--with-keys` takes them along. */
export const isKey = (place: string): boolean => place === 'ci/secret.key' || place.startsWith('secrets/');

export const databaseName = 'hearth.db';

export const databaseAt = ({ dataDir }: Pick<Config, 'dataDir'>): string => path.join(dataDir, databaseName);
