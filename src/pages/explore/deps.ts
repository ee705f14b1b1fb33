import type { WebDeps } from '../../web/index.ts';

/** The modules that the pages of this folder call. */
export type ExploreDeps = Pick<
  WebDeps,
  | 'clock'
  | 'git'
  | 'accounts'
  | 'owners'
  | 'organisations'
  | 'repositories'
  | 'search'
  | 'codeSearch'
  | 'backgroundPriority'
>;
