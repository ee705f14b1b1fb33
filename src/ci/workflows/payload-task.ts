import { readWorkflow } from './parse-workflow.ts';
import { writePayload } from './write-payload.ts';
import type { ResolvedJob } from './write-payload.ts';

export interface PayloadRequest {
  path: string;
  content: string;
  jobKey: string;
  resolved: ResolvedJob;
}

/** Task of the worker pool: returns the YAML for a runner, or the error of the file. */
export function run({ path, content, jobKey, resolved }: PayloadRequest): { payload: string } | { problem: string } {
  const read = readWorkflow(path, content);
  if ('ok' in read) return { problem: read.problem.describe() };
  // If the matrix of a call was evaluated in the run, there are more jobs than in the file; all combinations share
  // their nodes.
  const job = read.jobs.get(jobKey) ?? read.jobs.get(jobKey.replaceAll(/#\d+/g, ''));
  if (job === undefined) return { problem: `the workflow has no job ${jobKey}` };
  try {
    return { payload: writePayload(job, resolved) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
