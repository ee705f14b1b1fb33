import type { Ci } from '../ci/index.ts';
import type { Logger } from '../kernel/index.ts';

/** Modules that the endpoints for jobs depend on. */
export interface ArtifactDeps {
  ci: Pick<Ci, 'artifacts' | 'summaries'>;
  logger: Logger;
}
