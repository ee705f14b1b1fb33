import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owner, Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { PackageRow, PackageVersionRow } from './schema/package-schema.ts';
import type { PackageSettings } from './settings.ts';

/** An event of a version that is visible to its readers. */
export interface PackageEvent {
  action: 'created' | 'deleted';
  owner: Pick<Owner, 'id' | 'kind'>;
  package: PackageRow;
  version: PackageVersionRow;
  /** Tags of a version of an image, by which it is shown. */
  tags: readonly string[];
  /** UUID of the user; null for a task and the server itself. */
  actorId: string | null;
}

/** The port that notifies other modules of an event, inside the write that causes it. */
export type PackageListener = (tx: Tx, event: PackageEvent) => Promise<void>;

/** Dependencies of the use-cases of this module. */
export interface PackageDeps {
  db: Database;
  accounts: Pick<Accounts, 'peopleById'>;
  owners: Pick<Owners, 'resolve' | 'resolveFormer' | 'ownersById'>;
  organisations: Pick<Organisations, 'roleOf'>;
  repositories: Pick<Repositories, 'find' | 'factsOf' | 'list' | 'locate'>;
  objects: ObjectStore;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: PackageSettings;
  listeners: PackageListener[];
}
