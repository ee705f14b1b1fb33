import type { WorkerPool } from '../../workers/index.ts';
import { bundle } from './bundle.ts';
import type { FileFinding } from './file-finding.ts';
import type { ParsedWorkflow } from './parse-workflow.ts';
import { sourceOf, WorkflowReader } from './workflow-reader.ts';

/** All findings of a file, and the error that keeps it from running. */
export function findingsOf(parsed: ParsedWorkflow): FileFinding[] {
  const { findings } = parsed;
  if (parsed.ok || findings.some(({ severity }) => severity === 'error')) return [...findings];
  const { line, column, message } = parsed.problem;
  return [{ severity: 'error', line, column, message }, ...findings];
}

/**
 * Checks a workflow file without a repository.
 * @param files workflows that it may call, by path from the root of the repository
 */
export const checkWorkflow = async (
  workers: WorkerPool,
  { path, text }: { path: string; text: string },
  files: ReadonlyMap<string, string>,
): Promise<FileFinding[]> =>
  findingsOf(await new WorkflowReader(workers).read(sourceOf({ path, content: bundle(text, files) }, 'check')));
