import { parseWorkflow } from './parse-workflow.ts';
import type { ParsedWorkflow } from './parse-workflow.ts';

/** A workflow in the form in which it leaves the worker: an error object would lose its position. */
type PlainWorkflow =
  | (ParsedWorkflow & { ok: true })
  | (Omit<ParsedWorkflow & { ok: false }, 'problem'> & { problem: { message: string; line: number; column: number } });

/** A task of the worker pool. */
export function run({ path, content }: { path: string; content: string }): PlainWorkflow {
  const parsed = parseWorkflow(path, content);
  if (parsed.ok) return parsed;
  const { message, line, column } = parsed.problem;
  return { ...parsed, problem: { message, line, column } };
}
