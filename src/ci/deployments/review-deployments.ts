import type { EntityManager } from 'typeorm';
import {
  isLocalAdministrator,
  personIdOf,
  personViewer,
  repositoryLevel,
  rightToDeploy,
  viewerForLog,
} from '../../access/index.ts';
import type { DeploymentRefusal, Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { rows } from '../../db/index.ts';
import { conflict, forbidden, invalid, yieldToEventLoop } from '../../kernel/index.ts';
import type { Found, Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { refuseArchived, requireLevel } from '../require-level.ts';
import { advanceJobs } from '../runs/advance-run.ts';
import { changeRuns } from '../runs/change-runs.ts';
import { findRunRow } from '../runs/find-run.ts';
import { runNotFound } from '../load-run.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { deploymentReviewSchema } from '../schema/deployment-schema.ts';
import type { DeploymentReviewRow } from '../schema/deployment-schema.ts';
import { environmentSchema } from '../schema/environment-schema.ts';
import type { EnvironmentRow } from '../schema/environment-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { foldEnvironmentName } from '../workflows/environment-name.ts';
import { environmentNamed, withRules } from '../environments/find-environment.ts';
import type { Environment } from '../environments/find-environment.ts';

/** The jobs of a run that wait for one environment. */
export interface PendingDeployment {
  environment: Environment;
  jobs: JobRow[];
  /** Time before which the jobs cannot start in any case; null without a wait. */
  until: number | null;
  since: number;
  /** Whether a reviewer has approved and only the wait remains. */
  isApproved: boolean;
  mayDecide: boolean;
}

interface Decision {
  verdict: 'approved' | 'rejected';
  /** Names of environments, or null for all that the viewer may review. */
  environments: readonly string[] | null;
  comment: string;
}

const maxCommentLength = 2_000;

const refusals: Record<DeploymentRefusal, string> = {
  self: 'Who has started a run does not review its deployments here.',
  write: 'A reviewer of this environment needs the right to push.',
  other: 'You are not a reviewer of this environment.',
};

type Deps = Pick<CiDeps, 'db' | 'repositories'>;

/** The deployments of the current attempt of a run that wait for an environment. */
export async function pendingDeployments(
  deps: Deps,
  viewer: Viewer,
  found: Found,
  run: RunRow,
): Promise<PendingDeployment[]> {
  const { manager } = { manager: deps.db.read };
  const jobs = await manager.find(jobSchema, {
    where: { runId: run.id, attempt: run.attempt, environmentState: 'waiting' },
    order: { position: 'ASC', id: 'ASC' },
  });
  const byId = Map.groupBy(jobs, ({ environmentId }) => environmentId ?? 0);
  const known: EnvironmentRow[] = [];
  for (const id of byId.keys()) {
    const row = await manager.findOneBy(environmentSchema, { id, repositoryId: found.repository.id });
    if (row !== null) known.push(row);
  }
  const pending: PendingDeployment[] = [];
  for (const environment of await withRules(manager, known)) {
    const own = byId.get(environment.id)!;
    const until = own.reduce<number | null>(
      (last, { environmentUntil: at }) => (at === null ? last : Math.max(last ?? 0, at)),
      null,
    );
    pending.push({
      environment,
      jobs: own,
      until,
      since: Math.min(...own.map(({ environmentSince, createdAt }) => environmentSince ?? createdAt)),
      isApproved: own.every(({ environmentApproved }) => environmentApproved) || !environment.needsReview,
      mayDecide: isRight(await rightOf(deps, manager, viewer, found.repository, environment, run)),
    });
  }
  return pending;
}

const isRight = (right: string): right is 'reviewer' | 'bypass' => right === 'reviewer' || right === 'bypass';

async function rightOf(
  { repositories }: Pick<Deps, 'repositories'>,
  manager: EntityManager,
  viewer: Viewer,
  repository: Repository,
  environment: EnvironmentRow,
  run: RunRow,
): Promise<'reviewer' | 'bypass' | DeploymentRefusal> {
  if (viewer.kind !== 'person') return 'other';
  const isLocal = isLocalAdministrator(viewer);
  const facts = await repositories.factsOf(isLocal ? null : viewer.id, repository, manager);
  return rightToDeploy(viewer, {
    level: repositoryLevel(viewer, facts),
    isReviewer: !isLocal && (await isReviewer(manager, environment.id, viewer.id)),
    hasStarted: !isLocal && (run.actorId === viewer.id || run.attemptActorId === viewer.id),
    preventsSelfReview: environment.preventsSelfReview,
    needsWrite: environment.needsWrite,
    adminsBypass: environment.adminsBypass,
  });
}

async function isReviewer(manager: EntityManager, environmentId: number, personId: string): Promise<boolean> {
  const found = await rows<{ id: number }>(
    manager,
    `SELECT r.id FROM ci_environment_reviewers r
     LEFT JOIN team_members m ON m.team_id = r.team_id AND m.user_id = ?
     WHERE r.environment_id = ? AND (r.user_id = ? OR m.user_id IS NOT NULL) LIMIT 1`,
    [personId, environmentId, personId],
  );
  return found.length > 0;
}

/**
 * Ids of the users who may approve a run as reviewers of an environment; empty once no job waits there. Excludes
 * administrators who may bypass the rules.
 */
export async function reviewersOfRun(
  deps: Deps,
  repository: Repository,
  number: number,
  environmentName: string,
): Promise<string[]> {
  const { read } = deps.db;
  const run = await read.findOneBy(runSchema, { repositoryId: repository.id, number });
  if (run === null) return [];
  const waiting = await read.findOneBy(jobSchema, {
    runId: run.id,
    attempt: run.attempt,
    environment: environmentName,
    environmentState: 'waiting',
    environmentApproved: false,
  });
  const environment = await environmentNamed(read, repository.id, environmentName);
  if (waiting === null || environment === null) return [];
  const named = await rows<{ id: string }>(
    read,
    `SELECT COALESCE(m.user_id, r.user_id) AS id FROM ci_environment_reviewers r
     LEFT JOIN team_members m ON m.team_id = r.team_id
     WHERE r.environment_id = ?`,
    [environment.id],
  );
  const able: string[] = [];
  for (const [at, id] of [...new Set(named.flatMap((row) => row.id ?? []))].entries()) {
    if (at % 100 === 99) await yieldToEventLoop();
    if ((await rightOf(deps, read, personViewer(id, 'admin'), repository, environment, run)) === 'reviewer')
      able.push(id);
  }
  return able;
}

/**
 * Approves or rejects the waiting deployments of a run. The permissions of the viewer are read inside the write, so
 * that only one of two concurrent decisions succeeds. Throws `run_not_found`, `repository_archived`,
 * `deployment_not_waiting` if it was already decided or cancelled or has ended, `not_a_reviewer`, `comment_too_long`.
 */
export async function reviewDeployments(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  number: number,
  { verdict, environments, comment }: Decision,
): Promise<DeploymentReviewRow[]> {
  requireLevel(found, 'read');
  refuseArchived(found);
  if (comment.length > maxCommentLength)
    throw invalid('comment_too_long', `A comment can have at most ${maxCommentLength} characters.`, {
      field: 'comment',
    });
  const loaded = await deps.runs.load((await findRunRow(deps, found, number)).id);
  const wanted = environments === null ? null : new Set(environments.map(foldEnvironmentName));
  const reviews = await changeRuns(deps, async (tx, after) => {
    const runChanges = await RunChanges.open(deps, tx, after, loaded.run.id);
    if (runChanges === null) throw runNotFound();
    const { run } = runChanges;
    const waiting = runChanges.jobs.filter(
      (job) =>
        job.environmentState === 'waiting' &&
        !(job.environmentApproved && verdict === 'approved') &&
        (wanted === null || wanted.has(foldEnvironmentName(job.environment!))),
    );
    const names = new Set(waiting.map(({ environment }) => foldEnvironmentName(environment!)));
    if (waiting.length === 0 || (wanted !== null && [...wanted].some((name) => !names.has(name))))
      throw conflict('deployment_not_waiting', 'No job in this run is still waiting for this approval.');
    const decided = await decide(
      deps,
      tx,
      viewer,
      { run, jobs: waiting, isChosen: wanted !== null },
      loaded.repository,
    );
    const made: DeploymentReviewRow[] = [];
    for (const { job, isBypass } of decided) {
      const review = {
        runId: run.id,
        jobId: job.id,
        environmentId: job.environmentId,
        environment: job.environment!,
        reviewerId: personIdOf(viewer),
        verdict,
        isBypass,
        comment: comment.trim(),
        createdAt: tx.now,
      };
      const { identifiers } = await tx.manager.insert(deploymentReviewSchema, review);
      made.push({ id: identifiers[0]!.id as number, ...review });
      if (verdict === 'rejected') runChanges.change(job, { status: 'failure', reason: reasonOf(viewer, job, comment) });
      // Bypassing the rules also skips the wait.
      else runChanges.change(job, { environmentApproved: true, ...(isBypass && { environmentUntil: null }) });
    }
    await advanceJobs(deps, tx, after, runChanges, { ...loaded, run });
    return made;
  });
  for (const { jobId, environment, isBypass } of reviews)
    deps.logger.info(`ci.deployment_${verdict}`, {
      run: loaded.run.id,
      job: jobId,
      environment,
      bypass: isBypass,
      by: viewerForLog(viewer),
    });
  return reviews;
}

/**
 * Selects the waiting jobs that the viewer may review. Throws if the viewer chose environments and may not review all
 * of them.
 */
async function decide(
  deps: CiDeps,
  { manager }: Tx,
  viewer: Viewer,
  { run, jobs, isChosen }: { run: RunRow; jobs: readonly JobRow[]; isChosen: boolean },
  repository: Repository,
): Promise<{ job: JobRow; isBypass: boolean }[]> {
  const decided: { job: JobRow; isBypass: boolean }[] = [];
  let refusal: DeploymentRefusal = 'other';
  for (const [id, own] of Map.groupBy(jobs, ({ environmentId }) => environmentId)) {
    const environment = id === null ? null : await manager.findOneBy(environmentSchema, { id });
    if (environment === null) continue;
    const right = await rightOf(deps, manager, viewer, repository, environment, run);
    if (isRight(right)) decided.push(...own.map((job) => ({ job, isBypass: right === 'bypass' })));
    else if (isChosen) throw forbidden('not_a_reviewer', refusals[right]);
    else refusal = right;
  }
  if (decided.length === 0) throw forbidden('not_a_reviewer', refusals[refusal]);
  return decided;
}

function reasonOf(viewer: Viewer, job: JobRow, comment: string): string {
  const by =
    viewer.kind === 'person' && !isLocalAdministrator(viewer) ? (viewer.username ?? 'A reviewer') : 'An administrator';
  const why = comment.trim() === '' ? '.' : `: ${comment.trim()}`;
  return `${by} rejected the deployment to ${job.environment}${why}`.slice(0, 1000);
}

/** The reviews of a run, oldest first. */
export const reviewsOfRun = ({ db }: Pick<CiDeps, 'db'>, runId: number): Promise<DeploymentReviewRow[]> =>
  db.read.find(deploymentReviewSchema, { where: { runId }, order: { id: 'ASC' } });
