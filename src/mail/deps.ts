import type { Database } from '../db/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { RateLimit } from './rate-limit.ts';
import type { MailMessage } from './message.ts';
import type { MailSettings } from './settings.ts';
import type { SmtpConnections } from './smtp-connections.ts';

/** Dependencies of the use-cases of this module. */
export interface MailDeps {
  db: Database;
  outbox: Pick<Outbox, 'drain' | 'enqueue' | 'register' | 'removeOld' | 'retry'>;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: MailSettings;
  connections: SmtpConnections;
  limit: RateLimit;
  /** By the kind of mail. */
  renderers: Map<string, (data: unknown) => Promise<MailMessage | null>>;
}

/** A mail that is to be sent. */
export interface NewMail {
  /** A kind that `define` knows. */
  kind: string;
  /** What `render` gets, as JSON; stored encrypted, so a one-time token is allowed in it. */
  data: unknown;
  /** When it becomes due, milliseconds since the epoch; at once when left out. */
  at?: number;
  /** Mails of one key are sent one after the other, in their order: a person, a thread. */
  key?: string;
}
