import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { outputSchema } from '../tasks/task-schema.ts';
import type { JobOutlook } from '../workflows/expression-functions.ts';
import type { Workflow } from '../workflows/workflow.ts';
import type { Json } from '../workflows/yaml-nodes.ts';
import type { JobBoard } from './job-board.ts';
import type { JobRow } from './job-schema.ts';
import { statusOfLegs } from './run-status.ts';
import type { FinalStatus } from './run-status.ts';

/**
 * What `success()` and `failure()` answer for a job; null while something that it
 * needs has not ended. Everything that it needs must have gone well for the one; for
 * the other, anything before it may have failed.
 */
export function outlookOf(board: JobBoard, workflow: Workflow, jobKey: string): JobOutlook | null {
  const needs = workflow.jobs.get(jobKey)?.needs ?? [];
  const results = needs.map((need) => statusOfLegs(board.legsOf(need)));
  if (results.includes(null)) return null;
  const before = ancestorsOf(workflow, jobKey).map((key) => statusOfLegs(board.legsOf(key)));
  return {
    success: results.every((result) => result === 'success'),
    failure: before.includes('failure'),
    cancelled: board.run.isCancelled,
  };
}

function ancestorsOf(workflow: Workflow, jobKey: string): string[] {
  const found = new Set<string>();
  const open = [jobKey];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const need of workflow.jobs.get(key)?.needs ?? []) {
      if (!found.has(need)) open.push(need);
      found.add(need);
    }
  }
  return [...found];
}

/** Outputs of some jobs by their tasks. */
export async function outputsOf(manager: EntityManager, jobs: readonly JobRow[]): Promise<Map<number, Map<string, string>>> {
  const outputs = new Map<number, Map<string, string>>();
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? []);
  if (taskIds.length === 0) return outputs;
  for (const { taskId, name, value } of await manager.findBy(outputSchema, { taskId: In(taskIds) })) {
    if (value === null) continue;
    const ofTask = outputs.get(taskId) ?? new Map<string, string>();
    outputs.set(taskId, ofTask.set(name, value));
  }
  return outputs;
}

/** One job that another one needs: its legs together. */
export interface NeededJob {
  result: FinalStatus;
  outputs: Map<string, string>;
}

/** Legs of a matrix give one set of outputs: of each name the last that is not empty. */
export function neededJobs(needs: readonly string[], jobs: readonly JobRow[], outputs: ReadonlyMap<number, Map<string, string>>): Map<string, NeededJob> {
  return new Map(
    needs.map((need) => {
      const legs = jobs.filter((job) => job.jobKey === need).sort((a, b) => a.position - b.position);
      const merged = new Map<string, string>();
      for (const leg of legs) {
        for (const [name, value] of outputs.get(leg.taskId ?? 0) ?? []) if (value !== '' || !merged.has(name)) merged.set(name, value);
      }
      return [need, { result: statusOfLegs(legs) ?? 'skipped', outputs: merged }];
    }),
  );
}

/** The same as expressions see it. */
export function needsContext(needs: readonly string[], jobs: readonly JobRow[], outputs: ReadonlyMap<number, Map<string, string>>): Json {
  return Object.fromEntries(
    [...neededJobs(needs, jobs, outputs)].map(([need, { result, outputs: values }]) => [need, { result, outputs: Object.fromEntries(values) }]),
  );
}
