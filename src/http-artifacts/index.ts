import type { Middleware } from '../http/index.ts';
import { createPipelinesApi } from './pipelines-api.ts';
import { createResultsApi } from './results-api.ts';
import type { ArtifactDeps } from './deps.ts';

/** Handlers of the two protocols with which jobs upload and download artifacts. */
export interface ArtifactHandlers {
  results: Middleware;
  pipelines: Middleware;
}

export function createArtifactHandlers(deps: ArtifactDeps): ArtifactHandlers {
  return { results: createResultsApi(deps), pipelines: createPipelinesApi(deps) };
}
