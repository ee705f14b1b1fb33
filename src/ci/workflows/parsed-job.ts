import type { JobDefinition } from './workflow.ts';
import type { YamlFile } from './yaml-nodes.ts';

/** A job together with where it stands; nodes never leave the thread that parsed them. */
export interface ParsedJob {
  definition: JobDefinition;
  file: YamlFile;
  node: unknown;
}
