import { readWorkflow } from './parse-workflow.ts';
import { writePayload } from './write-payload.ts';
import type { ResolvedJob } from './write-payload.ts';

export interface PayloadRequest {
  path: string;
  content: string;
  jobKey: string;
  settled: ResolvedJob;
}

/** A task of the worker pool: the YAML that a runner gets, or what is wrong with the file. */
export function run({ path, content, jobKey, settled }: PayloadRequest): { payload: string } | { problem: string } {
  const read = readWorkflow(path, content);
  if ('ok' in read) return { problem: read.problem.describe() };
  const job = read.jobs.get(jobKey);
  if (job === undefined) return { problem: `the workflow has no job ${jobKey}` };
  try {
    return { payload: writePayload(job, settled) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
