import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Logger } from '../kernel/index.ts';
import type { Mail } from '../mail/index.ts';

/** Dependencies of the use-cases of this module. */
export interface NoticeDeps {
  db: Database;
  accounts: Pick<Accounts, 'onSecurityEvent' | 'personById'>;
  mail: Pick<Mail, 'define' | 'enqueue' | 'isConfigured' | 'wake'>;
  logger: Logger;
  /** Public origin of this server, which links lead to; null when it is taken from each request; then mail is off. */
  baseUrl: string | null;
  /** The language of mails to people who have not chosen one. */
  locale: string;
}
