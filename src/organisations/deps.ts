import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';

/** The dependencies of the use-cases of this module. */
export interface OrganisationDeps {
  db: Database;
  owners: Owners;
  accounts: Pick<
    Accounts,
    'announceSecurityEvent' | 'personByUsername' | 'peopleById' | 'listPeopleAmong' | 'addInvite'
  >;
  avatars: Avatars;
  random: Random;
  logger: Logger;
  /** Set once by `app/`. */
  ownedRepositories: OwnedRepositories;
}

/**
 * The port for what organisations own. The module `repositories` implements it and may import this one, so `app/`
 * connects them.
 */
export interface OwnedRepositories {
  /** Runs inside the write that deletes an organisation: the names of its repositories. Must read within that write. */
  namesOf(tx: Tx, organisationId: string): Promise<string[]>;
  /**
   * Runs inside the same write: deletes the organisation's repositories in the trash.
   * @returns what remains to be done on disk after the commit
   */
  detachTrash(tx: Tx, organisationId: string): Promise<() => Promise<void>>;
}
