import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { OwnerScope, RunRow } from '../../../ci/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import { pages, readRunFilter, runQuery, runStatus } from './action-run-pages.ts';
import { actionJobs, actionRuns, showActionJobs, showActionRuns, statusesOf } from './actions-schemas.ts';
import type { ActionsContext } from './actions-schemas.ts';
import { ciScopePaths } from '../shapes/ci-scopes.ts';
import type { CiScopePath } from '../shapes/ci-scopes.ts';

/** The repositories of some runs; omits runs whose repository has been deleted since. */
async function placesOf(
  { deps, origin }: { deps: WebDeps; origin: string },
  viewer: Viewer,
  runs: readonly RunRow[],
): Promise<Map<string, ActionsContext>> {
  const repositories = await deps.repositories.listByIds(
    viewer,
    runs.map(({ repositoryId }) => repositoryId),
  );
  return new Map(
    repositories.map(({ id, name, owner }) => [
      id,
      { found: { canonical: { owner: owner.handle, name } }, deps, origin },
    ]),
  );
}

function operationsOf({ at, word, whose, access, scopeOf, refuses }: CiScopePath): Operation[] {
  const common = { tag: 'Runs', method: 'GET', access, cost: 'rows', status: 200, refuses } as const;
  const scope = (call: unknown) => scopeOf(call as AnyCall) as OwnerScope;
  const reach = `Only repositories that the caller can read.${
    access === 'administrator' ? ' Covers only the newest 20,000 on the server.' : ''
  }`;
  return [
    operation({
      ...common,
      id: `list${word}ActionRuns`,
      path: `${at}/actions/runs`,
      summary: `List the runs ${whose} in Gitea’s format, newest first`,
      description: reach,
      query: runQuery,
      response: actionRuns,
      async run(call) {
        const { deps, origin, query } = call;
        const { viewer } = call as unknown as AnyCall;
        const { limit, page } = query;
        const filter = await readRunFilter(deps, query);
        const paging = { limit, skip: (page - 1) * limit };
        const { runs, total } = await deps.ci.runs.across(viewer, scope(call), filter, paging);
        const places = await placesOf({ deps, origin }, viewer, runs);
        const shown = await Promise.all(
          [...Map.groupBy(runs, ({ repositoryId }) => repositoryId)].map(([id, rows]) => {
            const place = places.get(id);
            return place === undefined ? [] : showActionRuns(place, rows);
          }),
        );
        return json({ total_count: total, workflow_runs: shown.flat().sort((a, b) => b.id - a.id) });
      },
    }),
    operation({
      ...common,
      id: `list${word}ActionJobs`,
      path: `${at}/actions/jobs`,
      summary: `List the jobs of all runs ${whose} in Gitea’s format, newest first`,
      description: reach,
      query: z.object({ ...pages, status: runStatus.optional() }),
      response: actionJobs,
      async run(call) {
        const { deps, origin, query } = call;
        const { viewer } = call as unknown as AnyCall;
        const { limit, page, status } = query;
        const statuses = status === undefined ? undefined : statusesOf[status];
        const paging = { limit, skip: (page - 1) * limit };
        const { jobs, total } = await deps.ci.runs.jobsAcross(viewer, scope(call), statuses, paging);
        const places = await placesOf(
          { deps, origin },
          viewer,
          jobs.map(({ run }) => run),
        );
        const shown = await Promise.all(
          [...Map.groupBy(jobs, ({ run }) => run)].map(([run, rows]) => {
            const place = places.get(run.repositoryId);
            const ofRun = rows.map(({ job }) => job);
            return place === undefined ? [] : showActionJobs(place, run, ofRun);
          }),
        );
        return json({ total_count: total, jobs: shown.flat().sort((a, b) => b.id - a.id) });
      },
    }),
  ];
}

/** Runs and jobs across the repositories of a user, of an organisation and of the server. */
export const ownerRunOperations = ciScopePaths
  .filter(({ at }) => !at.startsWith('/repos/'))
  .flatMap((path) => operationsOf(path));
