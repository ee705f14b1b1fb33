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
  /** By kind of mail. */
  renderers: Map<string, (data: unknown) => Promise<MailMessage | null>>;
}

/** A mail to send. */
export interface NewMail {
  /** A kind that was passed to `define`. */
  kind: string;
  /** Input of `render`, as JSON; stored encrypted, so it may contain a one-time token. */
  data: unknown;
  /** Due time, milliseconds since the epoch; at once if omitted. */
  at?: number;
  /** Mails with the same key, such as a user or a thread, are sent one after the other, in order. */
  key?: string;
}
