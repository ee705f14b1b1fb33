import type { WebDeps } from '../../web/index.ts';

/** What the pages of releases call. */
export type ReleasesDeps = Pick<
  WebDeps,
  | 'releases'
  | 'repositories'
  | 'notifications'
  | 'issues'
  | 'owners'
  | 'git'
  | 'clock'
  | 'config'
  | 'workers'
  | 'imageProxy'
  | 'imports'
>;
