import type { Ci } from '../ci/index.ts';
import type { Logger } from '../kernel/index.ts';

/** Modules that the artifact endpoints depend on. */
export interface ArtifactDeps {
  ci: Pick<Ci, 'artifacts'>;
  logger: Logger;
}
