import type { WebDeps } from '../../web/index.ts';

/** The modules that the release pages call. */
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
