import type { JobDefinition } from './workflow.ts';
import type { YamlFile } from './yaml-nodes.ts';

/** A job with its node; nodes never leave the worker that parsed them. */
export interface ParsedJob {
  definition: JobDefinition;
  file: YamlFile;
  node: unknown;
}
