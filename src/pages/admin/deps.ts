import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type AdminDeps = Pick<
  WebDeps,
  | 'config'
  | 'databaseFacts'
  | 'clock'
  | 'accounts'
  | 'owners'
  | 'processFacts'
  | 'repositories'
  | 'federation'
  | 'mirrors'
  | 'mail'
  | 'nodes'
  | 'git'
  | 'oneTimeSecrets'
  | 'audit'
  | 'backups'
  | 'counts'
  | 'origins'
  | 'scheduledTasks'
  | 'singleSignOn'
  | 'storage'
  | 'unready'
>;
