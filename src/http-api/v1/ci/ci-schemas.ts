import { z } from 'zod';
import { eventNames, runStatusGroups } from '../../../ci/index.ts';

/** The shapes of CI: runs with their jobs, runners, secrets and variables. */

const time = z.iso.datetime().describe('ISO 8601, UTC');
const ended = ['success', 'failure', 'cancelled', 'skipped'] as const;
const status = z.enum(['blocked', 'waiting', 'running', 'cancelling', ...ended]);

export const runStatus = z.enum(runStatusGroups as [string, ...string[]]);
export const runEvent = z.enum([...eventNames] as [string, ...string[]]);

export const run = z
  .strictObject({
    number: z.int().describe('From 1 in each repository'),
    status,
    title: z.string(),
    workflow: z.string().describe('File of the workflow, below the folder of workflows'),
    workflowName: z.string(),
    event: z.string().describe('What started it'),
    ref: z.string().describe('Full name, such as refs/heads/main'),
    commit: z.string(),
    attempt: z.int().describe('The newest attempt, from 1'),
    actor: z
      .string()
      .nullable()
      .describe('Handle of who started it; null for the clock, for deploy keys, and for people who are gone'),
    deployKey: z.string().nullable().describe('Title of the deploy key whose push started it'),
    reason: z.string().nullable().describe('Why it failed before any job, or was replaced'),
    approval: z
      .enum(['waiting', 'approved'])
      .nullable()
      .describe('Of code by people without write access: whether the run was approved; null where that is not asked'),
    createdAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    url: z.string().describe('The page of the run'),
  })
  .meta({ id: 'Run' });

export const job = z
  .strictObject({
    id: z.int(),
    key: z.string().describe('As the file calls the job'),
    name: z.string().describe('With the values of its matrix'),
    attempt: z.int(),
    status,
    labels: z.array(z.string()).nullable().describe('What it asks of a runner; null while that is not known'),
    needs: z.array(z.string()),
    reason: z.string().nullable().describe('Why it did not run, how it was lost, or why it still waits'),
    queuedAt: time.nullable().describe('When a runner could have it; its wait is over at `startedAt`'),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    url: z.string().describe('The page of the job'),
  })
  .meta({ id: 'Job' });

const step = z
  .strictObject({
    name: z.string(),
    status: z.enum(['waiting', 'running', ...ended]),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    logFrom: z.int().describe('Its first row in the log of the job, from 0'),
    logRows: z.int(),
  })
  .meta({ id: 'Step' });

export const jobWithSteps = z
  .strictObject({
    ...job.shape,
    runner: z.string().nullable().describe('Name of the runner that has it or had it'),
    logComplete: z.boolean().describe('Whether no more rows will come'),
    steps: z.array(step),
  })
  .meta({ id: 'JobWithSteps' });

export const runWithJobs = z
  .strictObject({ ...run.shape, jobs: z.array(job).describe('Of the attempt that was asked for') })
  .meta({ id: 'RunWithJobs' });

export const plannedRun = z
  .strictObject({
    workflow: z.string().describe('File of the workflow, below the folder of workflows'),
    cron: z.string().describe('As the file has it'),
    timeZone: z.string().describe('IANA name of the zone in which the expression is read'),
    at: time,
  })
  .meta({ id: 'PlannedRun' });

const span = z
  .strictObject({ fromMs: z.int(), toMs: z.int() })
  .nullable()
  .describe('Milliseconds from the beginning of the axis');

export const runTimeline = z
  .strictObject({
    attempt: z.int(),
    startedAt: time.nullable().describe('The beginning of the axis; null while no job has waited or run'),
    lengthMs: z.int(),
    jobs: z.array(
      z.strictObject({
        id: z.int(),
        name: z.string(),
        status,
        attempt: z.int().describe('The attempt that ran it; times are null where that is an earlier one'),
        waited: span.describe('From the moment that a runner could have it'),
        ran: span,
        steps: z.array(z.strictObject({ name: z.string(), status: z.enum(['waiting', 'running', ...ended]), span })),
      }),
    ),
  })
  .meta({ id: 'RunTimeline' });

const comparedTime = z.strictObject({
  name: z.string(),
  beforeMs: z.int().nullable().describe('Null where it did not run to its end'),
  afterMs: z.int().nullable(),
});
export const comparedTimes = z
  .strictObject({
    before: z.int().describe('Number of the run that is compared with'),
    after: z.int(),
    jobs: z.array(z.strictObject({ ...comparedTime.shape, steps: z.array(comparedTime) })),
  })
  .meta({ id: 'ComparedTimes' });

const occasion = z.strictObject({ run: z.int().describe('Number of the run'), attempt: z.int() });
export const flakyTest = z
  .strictObject({
    artifact: z.string().describe('The artifact that has its report'),
    suite: z.string(),
    group: z.string().describe('Class of the test; empty where the report names none'),
    name: z.string(),
    failed: occasion,
    passed: occasion.describe('The same where its program tried it again by itself'),
  })
  .meta({ id: 'FlakyTest' });

export const startableWorkflow = z
  .strictObject({
    workflow: z.string().describe('What to name when starting it'),
    name: z.string(),
    inputs: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        type: z.string(),
        required: z.boolean(),
        default: z.string().nullable(),
        options: z.array(z.string()).describe('What a choice may be'),
      }),
    ),
  })
  .meta({ id: 'StartableWorkflow' });

export const newRun = z
  .strictObject({
    workflow: z.string(),
    ref: z.string().max(1000).optional().describe('A branch or tag; left out: the default branch'),
    inputs: z
      .record(z.string(), z.json())
      .optional()
      .describe('By name; the file says which there are. What is no text is taken as its JSON'),
  })
  .meta({ id: 'NewRun' });

export const rerunRequest = z
  .strictObject({ jobs: z.union([z.enum(['all', 'failed']), z.int().describe('Id of one job')]) })
  .meta({ id: 'Rerun' });

export const runner = z
  .strictObject({
    id: z.int(),
    uuid: z.string(),
    name: z.string(),
    status: z.enum(['unspecified', 'idle', 'active', 'offline']).describe('Unspecified before its first request'),
    disabled: z.boolean().describe('Gets no further job'),
    ephemeral: z.boolean().describe('Ephemeral: it takes one job and is removed'),
    trustedOnly: z.boolean().describe('Takes no jobs of code by people without write access'),
    version: z.string(),
    labels: z.array(z.string()).describe('By which jobs are assigned'),
    declaredLabels: z.array(z.string()).describe('Those that the runner itself declares'),
    labelsChosen: z.boolean().describe('Whether the labels were chosen here, so that no declaration replaces them'),
    capabilities: z.array(z.string()),
    createdAt: time,
    lastSeenAt: time.nullable(),
  })
  .meta({ id: 'Runner' });
export const runnerJob = z
  .strictObject({
    job: z.int().describe('Id of the job'),
    name: z.string(),
    workflowName: z.string(),
    repository: z.string().describe('owner/name'),
    run: z.int().describe('Number of the run'),
    status: z.enum(['running', 'cancelling', ...ended]),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    url: z.string().describe('The page of the job'),
  })
  .meta({ id: 'RunnerJob' });
export const madeRunner = z
  .strictObject({ ...runner.shape, token: z.string().describe('Never shown again') })
  .meta({ id: 'MadeRunner' });
export const newRunner = z
  .strictObject({ name: z.string(), ephemeral: z.boolean().optional() })
  .meta({ id: 'NewRunner' });
export const editedRunner = z
  .strictObject({
    disabled: z.boolean().optional(),
    trustedOnly: z.boolean().optional(),
    labels: z
      .array(z.string())
      .max(100)
      .nullable()
      .optional()
      .describe('Replaces what the runner declares; null: what it declares'),
  })
  .meta({ id: 'EditedRunner' });
export const sharedRunner = z
  .strictObject({
    name: z.string(),
    secret: z
      .string()
      .describe('40 hex digits in lower case, which the runner was given, too; its uuid follows from the first 16'),
    labels: z
      .array(z.string())
      .max(100)
      .optional()
      .describe('Left out: what an earlier registration or the runner itself said'),
  })
  .meta({ id: 'SharedRunner' });
export const registrationToken = z
  .strictObject({ token: z.string().describe('Never shown again') })
  .meta({ id: 'RegistrationToken' });

export const secret = z
  .strictObject({
    name: z.string(),
    createdAt: time,
    updatedAt: time,
    onlyFor: z
      .array(z.string())
      .optional()
      .describe('Of a secret of the server that is limited: the owners and repositories that get it'),
  })
  .meta({ id: 'Secret' });
export const variable = z
  .strictObject({ name: z.string(), value: z.string(), updatedAt: time })
  .meta({ id: 'Variable' });
export const newSecret = z
  .strictObject({
    value: z.string(),
    onlyFor: z
      .array(z.string().min(1).max(200))
      .max(50)
      .optional()
      .describe('Of a secret of the server: owners and repositories that get it; an empty list for all'),
  })
  .meta({ id: 'NewSecret' });
export const newValue = z.strictObject({ value: z.string() }).meta({ id: 'NewValue' });
