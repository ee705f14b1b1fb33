import type { Accounts } from '../accounts/index.ts';
import type { OidcProvider } from '../config/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { ProviderClients } from './provider-client.ts';

/** Dependencies of the use-cases of this module. */
export interface SingleSignOnDeps {
  providers: readonly OidcProvider[];
  clients: ProviderClients;
  accounts: Pick<
    Accounts,
    | 'addIdentity'
    | 'listIdentities'
    | 'personById'
    | 'personOfIdentity'
    | 'recordIdentityUse'
    | 'removeIdentity'
    | 'signUpWithIdentity'
  >;
  organisations: Pick<Organisations, 'syncMemberships'>;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
}
