import type { QueuedJob } from '../../ci/index.ts';
import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { runUrl } from './run-row.view.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewTime } from '../app/times.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, PersonContext, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';

function viewQueued({ job, run, place, reason }: QueuedJob, repository: { url: string; name: string }, now: number) {
  return {
    url: `${runUrl(repository.url, run.number)}/jobs/${job.id}`,
    name: viewName(job.name),
    run: `${viewName(run.workflowName)} #${run.number}`,
    repository: repository.name,
    status: viewStatus(job.status),
    place,
    reason,
    labels: job.runsOn ?? [],
    since: viewTime(job.waitingSince ?? job.createdAt, now),
  };
}

/** The jobs of a repository that have not started: each one's queue position and the reason for waiting. */
export const showQueue: Page<RepositoryContext, RunsDeps> = async ({ found }, { ci, clock }): Promise<Reply> => {
  const head = viewRepositoryHeader(found);
  const jobs = await ci.tasks.explainQueue(found);
  const name = `${found.canonical.owner}/${found.canonical.name}`;
  return page('runs/queue', {
    repository: head,
    jobs: jobs.map((job) => viewQueued(job, { url: head.url, name }, clock.now())),
  });
};

/** The same for the whole instance. */
export const showAdminQueue: Page<PersonContext, RunsDeps> = async (_context, deps): Promise<Reply> => {
  const jobs = await deps.ci.tasks.explainQueue(null);
  const located = await deps.repositories.locate(jobs.map(({ job }) => job.repositoryId));
  return page('runs/queue', {
    repository: null,
    jobs: jobs.flatMap((queued) => {
      const at = located.get(queued.job.repositoryId);
      if (at === undefined) return [];
      const canonical = { owner: at.owner.handle, name: at.repository.name };
      return [
        viewQueued(
          queued,
          { url: repositoryUrl(canonical), name: `${canonical.owner}/${canonical.name}` },
          deps.clock.now(),
        ),
      ];
    }),
  });
};
