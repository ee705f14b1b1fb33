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
    number: z.int().describe('Counted from 1 in every repository'),
    status,
    title: z.string(),
    workflow: z.string().describe('Workflow file, relative to the workflow directory'),
    workflowName: z.string(),
    event: z.string().describe('Event that started it'),
    ref: z.string().describe('Full ref name, such as refs/heads/main'),
    commit: z.string(),
    attempt: z.int().describe('Newest attempt, counted from 1'),
    actor: z
      .string()
      .nullable()
      .describe('Username of the user who started it; null for schedules, deploy keys and deleted accounts'),
    deployKey: z.string().nullable().describe('Title of the deploy key whose push started it'),
    reason: z.string().nullable().describe('Why it failed before any job started, or was replaced'),
    approval: z
      .enum(['waiting', 'approved'])
      .nullable()
      .describe('Whether a run of code by users without write access was approved; null if it needs no approval'),
    createdAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    url: z.string().describe('URL of the run’s page'),
  })
  .meta({ id: 'Run' });

export const job = z
  .strictObject({
    id: z.int(),
    key: z.string().describe('Job key in the workflow file'),
    name: z.string().describe('Display name, including matrix values'),
    attempt: z.int(),
    status,
    labels: z.array(z.string()).nullable().describe('Labels that a runner must have; null until known'),
    needs: z.array(z.string()),
    reason: z.string().nullable().describe('Why it did not run, was lost, or is still waiting'),
    queuedAt: time.nullable().describe('When it became ready for a runner; the wait ends at `startedAt`'),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    url: z.string().describe('URL of the job’s page'),
  })
  .meta({ id: 'Job' });

const step = z
  .strictObject({
    name: z.string(),
    status: z.enum(['waiting', 'running', ...ended]),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    logFrom: z.int().describe('Its first line in the job’s log, counted from 0'),
    logRows: z.int(),
  })
  .meta({ id: 'Step' });

export const jobWithSteps = z
  .strictObject({
    ...job.shape,
    runner: z.string().nullable().describe('Name of the runner that it was assigned to'),
    logComplete: z.boolean().describe('Whether the log is complete'),
    steps: z.array(step),
  })
  .meta({ id: 'JobWithSteps' });

export const runWithJobs = z
  .strictObject({ ...run.shape, jobs: z.array(job).describe('Jobs of the requested attempt') })
  .meta({ id: 'RunWithJobs' });

export const plannedRun = z
  .strictObject({
    workflow: z.string().describe('Workflow file, relative to the workflow directory'),
    cron: z.string().describe('Cron expression from the workflow file'),
    timeZone: z.string().describe('IANA name of the expression’s time zone'),
    at: time,
  })
  .meta({ id: 'PlannedRun' });

const span = z
  .strictObject({ fromMs: z.int(), toMs: z.int() })
  .nullable()
  .describe('Milliseconds from the start of the axis');

export const runTimeline = z
  .strictObject({
    attempt: z.int(),
    startedAt: time.nullable().describe('Start of the axis; null until a job has waited or run'),
    lengthMs: z.int(),
    jobs: z.array(
      z.strictObject({
        id: z.int(),
        name: z.string(),
        status,
        attempt: z.int().describe('Attempt that ran it; times are null for an earlier attempt'),
        waited: span.describe('Starts when it became ready for a runner'),
        ran: span,
        steps: z.array(z.strictObject({ name: z.string(), status: z.enum(['waiting', 'running', ...ended]), span })),
      }),
    ),
  })
  .meta({ id: 'RunTimeline' });

const comparedTime = z.strictObject({
  name: z.string(),
  beforeMs: z.int().nullable().describe('Null if it did not finish'),
  afterMs: z.int().nullable(),
});
export const comparedTimes = z
  .strictObject({
    before: z.int().describe('Number of the run compared against'),
    after: z.int(),
    jobs: z.array(z.strictObject({ ...comparedTime.shape, steps: z.array(comparedTime) })),
  })
  .meta({ id: 'ComparedTimes' });

const occasion = z.strictObject({ run: z.int().describe('Run number'), attempt: z.int() });
export const flakyTest = z
  .strictObject({
    artifact: z.string().describe('Artifact that contains the report'),
    suite: z.string(),
    group: z.string().describe('Test class; empty if the report does not name one'),
    name: z.string(),
    failed: occasion,
    passed: occasion.describe('Equal to `failed` if the test program itself retried the test'),
  })
  .meta({ id: 'FlakyTest' });

export const startableWorkflow = z
  .strictObject({
    workflow: z.string().describe('Value to send when starting it'),
    name: z.string(),
    inputs: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        type: z.string(),
        required: z.boolean(),
        default: z.string().nullable(),
        options: z.array(z.string()).describe('Allowed values of a choice input'),
      }),
    ),
  })
  .meta({ id: 'StartableWorkflow' });

export const newRun = z
  .strictObject({
    workflow: z.string(),
    ref: z.string().max(1000).optional().describe('Branch or tag; defaults to the default branch'),
    inputs: z
      .record(z.string(), z.json())
      .optional()
      .describe('Inputs by name, as defined in the workflow file. Values that are not strings are converted to JSON'),
  })
  .meta({ id: 'NewRun' });

export const rerunRequest = z
  .strictObject({ jobs: z.union([z.enum(['all', 'failed']), z.int().describe('ID of a single job')]) })
  .meta({ id: 'Rerun' });

export const runner = z
  .strictObject({
    id: z.int(),
    uuid: z.string(),
    name: z.string(),
    status: z
      .enum(['unspecified', 'idle', 'active', 'offline'])
      .describe('Unspecified before the runner’s first request'),
    disabled: z.boolean().describe('Whether it is paused and receives no more jobs'),
    ephemeral: z.boolean().describe('Whether it is removed after one job'),
    trustedOnly: z.boolean().describe('Whether it refuses jobs with code by users without write access'),
    version: z.string(),
    labels: z.array(z.string()).describe('Labels used for assigning jobs'),
    declaredLabels: z.array(z.string()).describe('Labels that the runner itself declares'),
    labelsChosen: z.boolean().describe('Whether the labels were set on this server and override the declared ones'),
    capabilities: z.array(z.string()),
    createdAt: time,
    lastSeenAt: time.nullable(),
  })
  .meta({ id: 'Runner' });
export const runnerJob = z
  .strictObject({
    job: z.int().describe('Job ID'),
    name: z.string(),
    workflowName: z.string(),
    repository: z.string().describe('owner/name'),
    run: z.int().describe('Run number'),
    status: z.enum(['running', 'cancelling', ...ended]),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    url: z.string().describe('URL of the job’s page'),
  })
  .meta({ id: 'RunnerJob' });
export const madeRunner = z
  .strictObject({ ...runner.shape, token: z.string().describe('Shown only in this response') })
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
      .describe('Labels that override the declared ones; null restores the declared ones'),
  })
  .meta({ id: 'EditedRunner' });
export const sharedRunner = z
  .strictObject({
    name: z.string(),
    secret: z
      .string()
      .describe('40 lowercase hexadecimal digits, which the runner also has; its UUID is derived from the first 16'),
    labels: z
      .array(z.string())
      .max(100)
      .optional()
      .describe('Defaults to the labels of an earlier registration or those that the runner declares'),
  })
  .meta({ id: 'SharedRunner' });
export const registrationToken = z
  .strictObject({ token: z.string().describe('Shown only in this response') })
  .meta({ id: 'RegistrationToken' });

export const secret = z
  .strictObject({
    name: z.string(),
    createdAt: time,
    updatedAt: time,
    onlyFor: z
      .array(z.string())
      .optional()
      .describe('For a restricted server secret: owners and repositories that receive it'),
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
      .describe('For a server secret: owners and repositories that receive it; an empty list for all'),
  })
  .meta({ id: 'NewSecret' });
export const newValue = z.strictObject({ value: z.string() }).meta({ id: 'NewValue' });
