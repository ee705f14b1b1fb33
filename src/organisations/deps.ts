import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';

/** Dependencies of the use cases of this module. */
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
 * Port for the repositories of organisations. The module `repositories` implements it and may import this one, so
 * `app/` connects them.
 */
export interface OwnedRepositories {
  /**
   * Runs inside the transaction that deletes an organisation: returns the names of its repositories. Must read within
   * that transaction.
   */
  namesOf(tx: Tx, organisationId: string): Promise<string[]>;
  /**
   * Runs inside the same transaction: deletes the organisation's trashed repositories.
   * @returns disk work to do after the commit
   */
  detachTrash(tx: Tx, organisationId: string): Promise<() => Promise<void>>;
}
