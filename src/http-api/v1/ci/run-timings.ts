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
  summary: 'Get the waits and durations of the jobs and steps of a run, on one time axis',
  description: 'Times are milliseconds from the beginning of the axis. What is not over ends now.',
  query: z.object({ attempt: z.int().min(1).optional().describe('Left out: the newest') }),
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
  summary: 'Compare how long the jobs and steps of two runs of a repository took',
  description: 'Of their newest attempts. Jobs are paired by name, steps by their name in the job.',
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
  summary: 'List the tests of a run that failed and later passed at the same commit',
  description: 'By the JUnit reports among the artifacts of its attempts and of other runs of the workflow.',
  cost: 'objects',
  response: z.array(flakyTest),
  async run({ found, params, deps: { ci } }) {
    return json(await ci.flakyTests(found, runPathNumber(params.number)));
  },
});

/** What the jobs of a run took, and what their tests tell beside other runs. */
export const runTimingOperations: readonly Operation[] = [getTimeline, compareTimes, listFlakyTests];
