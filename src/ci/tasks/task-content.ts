import type { CiRoom } from '../room.ts';
import { secretsFor } from '../secrets/secrets.ts';
import { variablesFor } from '../secrets/variables.ts';
import { In } from 'typeorm';
import { jobSchema } from '../runs/job-schema.ts';
import type { JobRow } from '../runs/job-schema.ts';
import type { LoadedRun } from '../runs/load-run.ts';
import { neededJobs, outputsOf } from '../runs/needs.ts';
import type { NeededJob } from '../runs/needs.ts';
import { githubContext } from '../runs/run-context.ts';
import { writePayload } from '../workflows/write-payload.ts';
import type { Json } from '../workflows/yaml-nodes.ts';
import { runtimeTokenOf } from './runtime-token.ts';
import type { TaskRow } from './task-schema.ts';
import { taskToken } from './task-token.ts';

/** Everything that a runner is handed with a task. */
export interface TaskContent {
  taskId: number;
  /** YAML with exactly one job. */
  payload: string;
  context: { [key: string]: Json };
  secrets: Map<string, string>;
  variables: Map<string, string>;
  needs: Map<string, NeededJob>;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Builds what a runner needs for a job. A run that is not trusted gets the task's
 * token under its usual names and no configured secret (security H04, H05).
 * @param origin how the runner reaches this server; for those that have no base URL
 */
export async function taskContent(room: CiRoom, loaded: LoadedRun, job: JobRow, task: Pick<TaskRow, 'id' | 'createdAt'>, origin: string | null): Promise<TaskContent> {
  const { run, repository, parsed } = loaded;
  const taskId = task.id;
  const { key, settings, db } = room;
  if (!parsed.ok) throw new Error(parsed.problem.describe());
  const definition = parsed.workflow.jobs.get(job.jobKey);
  if (definition === undefined) throw new Error(`the workflow has no job ${job.jobKey}`);
  const token = taskToken(key, taskId);
  const needed = job.needs.length === 0 ? [] : await db.read.findBy(jobSchema, { runId: run.id, attempt: job.attempt, jobKey: In(job.needs) });
  const needs = neededJobs(job.needs, needed, await outputsOf(db.read, needed));
  const settled = { definition, name: job.name, leg: job.leg ?? {}, runsOn: job.runsOn ?? [], continueOnError: job.continueOnError };
  const runtime = runtimeTokenOf(room, task, job);
  const actions = settings.actionsUrl === 'self' ? (settings.baseUrl ?? origin ?? '') : settings.actionsUrl;
  return {
    taskId,
    payload: writePayload(parsed.workflow, settled),
    context: {
      ...githubContext(loaded, { baseUrl: settings.baseUrl ?? origin }),
      job: job.jobKey,
      token,
      retention_days: String(Math.ceil(settings.artifactsKeptMs / dayMs)),
      gitea_default_actions_url: actions,
      forgejo_default_actions_url: actions,
      gitea_runtime_token: runtime,
      forgejo_runtime_token: runtime,
    },
    secrets: new Map([
      ...['GITHUB_TOKEN', 'GITEA_TOKEN', 'FORGEJO_TOKEN'].map((name): [string, string] => [name, token]),
      ...(run.isTrusted ? await secretsFor(room, db.read, repository) : []),
    ]),
    variables: await variablesFor(db.read, repository),
    needs,
  };
}
