import { z } from 'zod';
import { runPathNumber } from '../../../http/index.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { json } from '../../responses.ts';
import { comparedTimes, flakyTest, runTimeline } from './ci-schemas.ts';
import { isoTimeOrNull } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/runs/{number}';
const shared = { tag: 'Runs', access: 'repository:read', cost: 'rows', status: 200 } as const;

const getTimeline = operation({
  ...shared,
  id: 'getRunTimeline',
  method: 'GET',
  path: `${at}/timeline`,
  summary: 'Get the wait times and durations of a run’s jobs and steps on one time axis',
  description: 'Times are milliseconds from the start of the axis. Unfinished spans end at the current time.',
  query: z.object({ attempt: z.int().min(1).optional().describe('Defaults to the newest attempt') }),
  response: runTimeline,
  async run({ found, params, query, deps: { ci } }) {
    const { attempt, startedAt, lengthMs, jobs } = await ci.timings.timeline(
      found,
      runPathNumber(params.number),
      query.attempt,
    );
    return json({
      attempt,
      startedAt: isoTimeOrNull(startedAt),
      lengthMs,
      jobs: jobs.map(({ job, attempt: ofAttempt, waited, ran, steps }) => ({
        id: job.id,
        name: job.name,
        status: job.status,
        attempt: ofAttempt,
        waited,
        ran,
        steps,
      })),
    });
  },
});

const compareTimes = operation({
  ...shared,
  id: 'compareRunTimes',
  method: 'GET',
  path: `${at}/compare`,
  summary: 'Compare the durations of jobs and steps in two runs of a repository',
  description: 'Compares the newest attempts. Jobs are matched by name, steps by name within the job.',
  query: z.object({ with: z.int().min(1).describe('Number of the other run') }),
  response: comparedTimes,
  async run({ found, params, query, deps: { ci } }) {
    const compared = await ci.timings.compare(found, runPathNumber(params.number), query.with);
    return json({ before: compared.before.number, after: compared.after.number, jobs: compared.jobs });
  },
});

const listFlakyTests = operation({
  ...shared,
  id: 'listFlakyTests',
  method: 'GET',
  path: `${at}/flaky-tests`,
  summary: 'List a run’s tests that failed and later passed at the same commit',
  description: 'Based on the JUnit reports in the artifacts of its attempts and of the workflow’s other runs.',
  cost: 'objects',
  response: z.array(flakyTest),
  async run({ found, params, deps: { ci } }) {
    return json(await ci.flakyTests(found, runPathNumber(params.number)));
  },
});

/** What the jobs of a run took, and what their tests tell beside other runs. */
export const runTimingOperations: readonly Operation[] = [getTimeline, compareTimes, listFlakyTests];
