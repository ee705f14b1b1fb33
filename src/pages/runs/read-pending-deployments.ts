import type { Viewer } from '../../access/index.ts';
import type { RunRow } from '../../ci/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Found } from '../../repositories/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import { environmentUrl } from '../code/deployment.view.ts';
import { namesOfDeployers } from '../code/read-deployments.ts';
import type { RunsDeps } from './deps.ts';

/** The deployments that jobs of a run wait for, for its page. */
export async function readPending(
  { viewer, found }: { viewer: Viewer; found: Found },
  deps: Pick<RunsDeps, 'ci' | 'clock'>,
  run: RunRow,
) {
  const { environments } = deps.ci;
  const url = repositoryUrl(found.canonical);
  return Promise.all(
    (await environments.pending(viewer, found, run)).map(async (pending) => ({
      name: pending.environment.name,
      url: environmentUrl(url, pending.environment.name),
      jobs: pending.jobs.map(({ name }) => viewName(name)),
      reviewers: pending.environment.needsReview ? await environments.namesOfReviewers(pending.environment) : [],
      isApproved: pending.isApproved,
      mayDecide: pending.mayDecide,
      until: pending.until === null ? null : viewTime(pending.until, deps.clock.now()),
    })),
  );
}

/** The users who approved or rejected jobs of a run. */
export async function readReviews(deps: Pick<RunsDeps, 'ci' | 'accounts' | 'clock'>, run: Pick<RunRow, 'id'>) {
  const reviews = await deps.ci.environments.reviewsOfRun(run.id);
  const names = await namesOfDeployers(
    reviews.map(({ reviewerId }) => ({ creatorId: reviewerId })),
    deps,
  );
  return reviews.map(({ verdict, reviewerId, environment, comment, isBypass, createdAt }) => ({
    isApproved: verdict === 'approved',
    by: reviewerId === null ? null : (names.get(reviewerId) ?? null),
    environment,
    comment,
    isBypass,
    at: viewTime(createdAt, deps.clock.now()),
  }));
}
