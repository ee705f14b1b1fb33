import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type IssuesDeps = Pick<
  WebDeps,
  | 'config'
  | 'clock'
  | 'accounts'
  | 'organisations'
  | 'owners'
  | 'repositories'
  | 'git'
  | 'workers'
  | 'issues'
  | 'notifications'
  | 'imageProxy'
  | 'imports'
>;
