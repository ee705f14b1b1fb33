import type { Ci } from '../ci/index.ts';
import type { Logger } from '../kernel/index.ts';

/** What the doors of artifacts ask of the rooms behind them. */
export interface ArtifactDeps {
  ci: Ci;
  logger: Logger;
}
