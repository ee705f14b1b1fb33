import type { Middleware } from '../context.ts';
import { createPipelinesApi } from './pipelines-api.ts';
import { createResultsApi } from './results-api.ts';
import type { ArtifactRooms } from './rooms.ts';

/** The two protocols in which jobs leave artifacts and fetch them. */
export interface ArtifactHandlers {
  results: Middleware;
  pipelines: Middleware;
}

export function createArtifactHandlers(rooms: ArtifactRooms): ArtifactHandlers {
  return { results: createResultsApi(rooms), pipelines: createPipelinesApi(rooms) };
}
