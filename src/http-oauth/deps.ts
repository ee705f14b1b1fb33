import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../accounts/index.ts';
import type { Config } from '../config/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { OAuth } from '../oauth/index.ts';
import type { ClaimsDeps } from './person-claims.ts';

/** Makes a page of the website for a request that is answered by the protocol library. */
export type Render = (request: IncomingMessage, template: string, locals: Record<string, unknown>) => string;

export interface OAuthHttpDeps extends Omit<ClaimsDeps, 'accounts'> {
  accounts: Pick<Accounts, 'addresses' | 'personById' | 'signOut' | 'viewerOfSession'>;
  config: Pick<Config, 'baseUrl'>;
  clock: Clock;
  logger: Logger;
  oauth: OAuth;
  random?: Random;
}
