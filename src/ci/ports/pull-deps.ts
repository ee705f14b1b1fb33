import type { Issues } from '../../issues/index.ts';
import type { Pulls } from '../../pulls/index.ts';

/** The modules whose pull requests start runs; created later and passed to `onPull`. */
export interface PullRunDeps {
  issues: { pulls: Pick<Issues['pulls'], 'contextOf' | 'textOf'> };
  pulls: Pick<
    Pulls,
    'codeOf' | 'find' | 'hasMerged' | 'recordSkippedChecks' | 'reconsider' | 'mergeBaseOf' | 'inWrite' | 'rightsOn'
  >;
}
