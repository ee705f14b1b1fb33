import type { Middleware } from '../http/index.ts';
import { createPipelinesApi } from './pipelines-api.ts';
import { createResultsApi } from './results-api.ts';
import type { ArtifactDeps } from './deps.ts';

/** The two protocols in which jobs leave artifacts and fetch them. */
export interface ArtifactHandlers {
  results: Middleware;
  pipelines: Middleware;
}

export function createArtifactHandlers(deps: ArtifactDeps): ArtifactHandlers {
  return { results: createResultsApi(deps), pipelines: createPipelinesApi(deps) };
}
