import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { accountEntities } from '../accounts/index.ts';
import { auditEntities } from '../audit/index.ts';
import { copyEntities } from '../copies/index.ts';
import { ciEntities } from '../ci/index.ts';
import type { Config } from '../config/index.ts';
import { createDatabase, databaseFileIn } from '../db/index.ts';
import type { Database } from '../db/index.ts';
import { federationEntities } from '../federation/index.ts';
import { pullEntities } from '../pulls/index.ts';
import { releaseEntities } from '../releases/index.ts';
import { issueEntities } from '../issues/index.ts';
import { lfsEntities } from '../lfs/index.ts';
import { systemClock, systemRandom } from '../kernel/index.ts';
import { packageEntities } from '../packages/index.ts';
import { oauthEntities } from '../oauth/index.ts';
import { organisationEntities } from '../organisations/index.ts';
import { avatarSchema, handleSchema } from '../owners/index.ts';
import { repositoryStoreEntities } from '../repository-store/index.ts';
import { repositoryEntities } from '../repositories/index.ts';
import { signingEntities } from '../signing/index.ts';
import { nodeIdOf } from '../nodes/index.ts';
import { notificationEntities } from '../notifications/index.ts';
import { outboxEntities } from '../outbox/index.ts';
import { noticeEntities } from '../notices/index.ts';
import { importEntities } from '../imports/index.ts';
import { mirrorEntities } from '../mirrors/index.ts';
import { webhookEntities } from '../webhooks/index.ts';
import type { AppOptions } from './app-options.ts';

/** Every mapped table. */
export const entities = [
  ...auditEntities,
  ...outboxEntities,
  handleSchema,
  avatarSchema,
  ...accountEntities,
  ...organisationEntities,
  ...oauthEntities,
  ...signingEntities,
  ...repositoryEntities,
  ...repositoryStoreEntities,
  ...lfsEntities,
  ...packageEntities,
  ...issueEntities,
  ...pullEntities,
  ...releaseEntities,
  ...ciEntities,
  ...federationEntities,
  ...webhookEntities,
  ...noticeEntities,
  ...notificationEntities,
  ...mirrorEntities,
  ...importEntities,
  ...copyEntities,
] as unknown as EntitySchema<never>[];

/** The schema version after all migrations. */
export const newestSchema = Math.max(...migrations.map(({ version }) => version));

export function databaseFile(config: Config): string {
  return databaseFileIn(config.dataDir);
}

/**
 * Path whose existence shows that a folder belongs to an instance: its database, or the folder itself if the database
 * is elsewhere.
 */
export const signOfInstance = (config: Config): string =>
  config.database.url === null ? databaseFile(config) : config.dataDir;

/** Dependencies of `hearth db copy` for either database. */
export const schemaOfProgram = { migrations, baseline: postgresBaseline };

/** Opens only the database, which is all that `hearth migrate` needs. */
export function openDatabase(
  config: Config,
  { logger, clock = systemClock, random = systemRandom, onStorageFault, writing }: AppOptions,
  migrate: 'always' | 'when-new' | 'never',
): Promise<Database> {
  const { url } = config.database;
  return createDatabase({
    file: databaseFile(config),
    ...(url === null
      ? {}
      : {
          postgres: { url, poolSize: config.database.pool, baseline: postgresBaseline },
          node: nodeIdOf(config.dataDir, random),
        }),
    entities,
    migrations,
    clock,
    logger,
    snapshotDirectory: path.join(config.dataDir, 'backups'),
    // A server on PostgreSQL leaves migrations to `hearth migrate`: no copy is kept there.
    migrate: url !== null && migrate === 'always' ? 'when-new' : migrate,
    ...(onStorageFault === undefined ? {} : { onStorageFault }),
    ...(writing === undefined ? {} : { writing }),
  });
}
