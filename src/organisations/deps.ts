import type { Accounts } from '../accounts/index.ts';
import type { Database, Tx } from '../db/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import type { Avatars, Owners } from '../owners/index.ts';

/** What the use-cases of this room work with. */
export interface OrganisationDeps {
  db: Database;
  owners: Owners;
  accounts: Pick<Accounts, 'personByUsername' | 'peopleById' | 'listPeopleAmong'>;
  avatars: Avatars;
  random: Random;
  logger: Logger;
  /** Set once by `app.ts`. */
  ownedRepositories: OwnedRepositories;
}

/**
 * The port through which this room asks about what organisations own. It lives
 * to the left of this room, so `app.ts` plugs it in.
 */
export interface OwnedRepositories {
  /** Inside the write that deletes an organisation: names of what it still owns. Must see what the write sees. */
  namesOf(tx: Tx, organisationId: string): Promise<string[]>;
  /**
   * Inside the same write: forgets what the organisation has in the trash.
   * @returns what remains to be done on disk once the write is committed
   */
  forgetTrash(tx: Tx, organisationId: string): Promise<() => Promise<void>>;
}
