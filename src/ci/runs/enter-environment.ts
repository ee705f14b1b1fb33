import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import type { LoadedRun } from '../load-run.ts';
import type { RunChanges } from './run-changes.ts';
import { environmentSchema } from '../schema/environment-schema.ts';
import type { EnvironmentRow } from '../schema/environment-schema.ts';
import type { JobRow } from '../schema/job-schema.ts';
import { maxEnvironments, openEnvironment } from '../environments/deployments.ts';
import { deployJob } from './deploy-job.ts';
import { allowsRef } from '../environments/environment-refs.ts';
import { environmentNamed, isProtectedEnvironment, withRules } from '../environments/find-environment.ts';

type Deps = Pick<CiDeps, 'deploymentListeners' | 'reviewListeners'>;

const minuteMs = 60_000;

/**
 * Admits a job to its environment, or makes it wait for a reviewer or a time. Called again until the job is admitted,
 * with the current rules, so that stricter ones apply to waiting jobs. Untrusted code enters only unprotected
 * environments, gets none of their secrets, and creates no deployment.
 */
export async function enterEnvironment(
  deps: Deps,
  tx: Tx,
  runChanges: RunChanges,
  { repository, isProtected }: Pick<LoadedRun, 'repository' | 'isProtected'>,
  job: JobRow,
): Promise<void> {
  const { run } = runChanges;
  const name = job.environment;
  if (name === null || job.environmentState === 'passed') return;
  const fail = (reason: string): void => runChanges.change(job, { status: 'failure', reason });
  if (!run.isTrusted) {
    const row = await environmentNamed(tx.manager, repository.id, name);
    if (row === null || !isProtectedEnvironment(row)) return runChanges.change(job, { environmentState: 'passed' });
    return fail(`The environment ${row.name} is protected: code of people without write access does not enter it.`);
  }
  const isNew = job.environmentState === null;
  if (!isNew && job.environmentId === null) return fail(`The environment ${name} was deleted.`);
  const environment = isNew
    ? await openEnvironment(tx, repository.id, name)
    : await tx.manager.findOneBy(environmentSchema, { id: job.environmentId!, repositoryId: repository.id });
  if (environment === null)
    return fail(
      isNew ? `This repository has ${maxEnvironments} environments already.` : `The environment ${name} was deleted.`,
    );
  const [rules] = await withRules(tx.manager, [environment]);
  if (!allowsRef(environment, rules!.refs, run.ref, isProtected))
    return fail(`${run.ref} may not deploy to ${environment.name}: the environment allows other branches and tags.`);
  if (isNew) await ask(deps, tx, runChanges, job, environment);
  const isApproved = job.environmentApproved || !environment.needsReview;
  const isDue = job.environmentUntil === null || job.environmentUntil <= tx.now;
  if (isApproved && isDue) runChanges.change(job, { environmentState: 'passed' });
}

/** Called once per job and attempt: an approval does not carry over to another attempt. */
async function ask(
  { deploymentListeners, reviewListeners }: Deps,
  tx: Tx,
  runChanges: RunChanges,
  job: JobRow,
  environment: EnvironmentRow,
): Promise<void> {
  const { run } = runChanges;
  const { waitMinutes } = environment;
  runChanges.change(job, {
    environment: environment.name,
    environmentId: environment.id,
    environmentState: 'waiting',
    environmentSince: tx.now,
    environmentUntil: waitMinutes === 0 ? null : tx.now + waitMinutes * minuteMs,
    deploymentId: job.makesDeployment ? await deployJob({ deploymentListeners }, tx, run, job, environment) : null,
  });
  if (!environment.needsReview) return;
  for (const tell of reviewListeners) await tell(tx, { kind: 'asked', run, environment: environment.name });
}
