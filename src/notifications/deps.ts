import type { Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Ci } from '../ci/index.ts';
import type { Database } from '../db/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Located, Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { Mailer } from './mailer.ts';

interface NotificationSettings {
  /** Public origin of this server; null to take it from each request. */
  baseUrl: string | null;
  /** Language of mails to users who have not chosen one. */
  locale: string;
  /** Retention time of done rows, in milliseconds. */
  keepDoneMs: number;
}

/** Renders mail texts; registered by the module that renders pages, which depends on this one. */
export interface Renderers {
  /**
   * A text in Markdown as HTML that loads nothing, with absolute links; null when it cannot be rendered. Without it
   * mails have the text as it was written.
   */
  markdown: ((text: { viewer: Viewer; place: Located; body: string }) => Promise<string | null>) | null;
}

/** Dependencies of the use cases of this module. */
export interface NotificationDeps {
  db: Database;
  accounts: Pick<Accounts, 'addresses' | 'personById' | 'peopleById'>;
  repositories: Pick<Repositories, 'find' | 'factsOf' | 'locate'>;
  issues: Pick<
    Issues,
    'findByIds' | 'findEntry' | 'listEntries' | 'peopleMentioned' | 'readersAmong' | 'setSubscription' | 'textBefore'
  >;
  ci: { environments: Pick<Ci['environments'], 'reviewersOfRun'> };
  mailer: Mailer;
  renderers: Renderers;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: NotificationSettings;
}
