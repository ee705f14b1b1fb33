import path from 'node:path';
import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import { bindDeps, createNotifier } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Owners } from '../owners/index.ts';
import type { Repositories } from '../repositories/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import type { WorkerPool } from '../workers/index.ts';
import { annotationsOfCommit, annotationsOfJobs } from './annotations/list-annotations.ts';
import { createArtifactService } from './artifacts/artifact-service.ts';
import { ArtifactParts } from './artifact-storage/artifact-parts.ts';
import { ArtifactStore } from './artifact-storage/artifact-store.ts';
import { FolderUploads } from './artifact-storage/folder-uploads.ts';
import type { CiDeps, CiSettings } from './deps.ts';
import type { DeploymentListener, ReviewListener } from './ports/deployment-listeners.ts';
import { createEnvironmentService } from './deployments/environment-service.ts';
import { reencryptEnvironmentSecrets } from './environments/environment-values.ts';
import { createIdentityService } from './identity/identity-service.ts';
import { reencryptIdentityKeys, removeRetired } from './identity/signing-keys.ts';
import { recordRelease, startPendingEvents } from './events/pending-events.ts';
import { createLogService } from './logs/log-service.ts';
import { LogParts } from './log-storage/log-parts.ts';
import { LogStore } from './log-storage/log-store.ts';
import { uploadLogs } from './logs/upload-logs.ts';
import { createPullRunService } from './pulls/pull-run-service.ts';
import type { PullRunDeps } from './ports/pull-deps.ts';
import { flakyTests } from './reports/flaky-tests.ts';
import { testReports } from './reports/read-reports.ts';
import { runOnIssues } from './issues/run-on-issues.ts';
import type { IssueRunDeps } from './issues/run-on-issues.ts';
import { runOnPulls } from './pulls/run-on-pull.ts';
import { removeOldRuns } from './retention/remove-old-runs.ts';
import { removeExpired } from './retention/remove-expired.ts';
import { removeRun } from './retention/remove-run.ts';
import { retentionOf, setRetention } from './retention/repository-retention.ts';
import { Presence } from './runner-model/last-seen.ts';
import { createRunnerManagement } from './runners/runner-management.ts';
import type { AfterCommit } from './runs/after-commit.ts';
import { advanceAll, changeRuns } from './runs/change-runs.ts';
import { RunLoader } from './load-run.ts';
import { recordEndedRun } from './runs/record-run-event.ts';
import type { RunEndListener } from './ports/run-end-listener.ts';
import { runOnPush } from './runs/run-on-push.ts';
import { createRunService, createWorkflowService } from './runs/run-service.ts';
import { replanSchedules, runSchedules } from './runs/schedules.ts';
import { createSettingsService } from './settings/settings-service.ts';
import { reencryptSecrets } from './secrets/secrets.ts';
import { createSecretService, createVariableService } from './secrets/secret-service.ts';
import { setSummary, summariesOf } from './summaries/step-summaries.ts';
import { claimTask } from './tasks/claim-task.ts';
import type { Claim } from './task-queue/claim.ts';
import { FairScheduler } from './tasks/fair-scheduler.ts';
import { returnTask } from './tasks/fetch-task.ts';
import { sweepTasks } from './tasks/sweep-tasks.ts';
import { TaskQueue } from './task-queue/task-queue.ts';
import { TaskReports } from './task-reports.ts';
import { createTaskService } from './tasks/task-service.ts';
import { createTimingService } from './timings/timing-service.ts';
import { WorkflowReader } from './workflows/workflow-reader.ts';

interface CiOptions {
  db: Database;
  accounts: Pick<Accounts, 'peopleById' | 'personByUsername' | 'addresses'>;
  organisations: Pick<Organisations, 'teams'>;
  owners: Pick<Owners, 'resolve' | 'ownersById'>;
  repositories: Repositories;
  git: Git;
  /** Store of artifacts and complete logs; a local one keeps them below `settings.folder`. */
  objects: ObjectStore;
  workers: WorkerPool;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: CiSettings;
}

/**
 * CI: workflows of repositories, their runs, the runners that execute them, logs and secrets. Each function documents
 * its effect and its errors.
 */
export function createCi(options: CiOptions) {
  const { db, clock, random, logger, settings } = options;
  /** Whether a runner may talk to several nodes that share a bucket. */
  const isShared = db.node !== null && options.objects.place === 's3';
  const order = new FairScheduler();
  const queue = new TaskQueue({
    db,
    logger,
    claim: (runner, asked): Promise<Claim | null> =>
      changeRuns(deps, (tx, after: AfterCommit) => claimTask(deps, tx, after, runner, asked, order)),
    release: ({ task }) => returnTask(deps, task.id),
  });
  const workflows = new WorkflowReader(options.workers);
  let pullSources: PullRunDeps | null = null;
  const deps: CiDeps = {
    ...options,
    key: new InstanceKey(settings.keyFile, random, 'ci'),
    presence: new Presence(clock),
    workflows,
    runs: new RunLoader({ ...options, workflows }),
    notifier: createNotifier(),
    reports: new TaskReports(),
    logs: new LogStore(path.join(settings.folder, 'logs'), random, options.objects, isShared ? new LogParts(db) : null),
    artifacts: new ArtifactStore(
      path.join(settings.folder, 'artifacts'),
      options.objects,
      (folder) => new FolderUploads(folder, db.read),
      isShared ? { parts: new ArtifactParts(db), random, clock } : null,
    ),
    queue,
    endings: [recordEndedRun],
    deploymentListeners: [],
    reviewListeners: [],
    pullSources() {
      if (pullSources === null) throw new Error('the modules of pull requests are not connected');
      return pullSources;
    },
  };
  let startedAt = 0;
  let hasStopped = false;
  let advancing: Promise<void> = Promise.resolve();

  return {
    runners: createRunnerManagement(deps),
    tasks: createTaskService(deps),
    logs: createLogService(deps),
    runs: { ...createRunService(deps), remove: bindDeps(deps)(removeRun) },
    workflows: createWorkflowService(deps),
    annotations: {
      ofJobs: bindDeps(deps)(annotationsOfJobs),
      ofCommit: bindDeps(deps)(annotationsOfCommit),
    },
    summaries: { set: bindDeps(deps)(setSummary), of: bindDeps(deps)(summariesOf) },
    settings: createSettingsService(deps),
    identity: createIdentityService(deps),
    artifacts: createArtifactService(deps),
    /** Test reports among the artifacts of a run. */
    testReports: bindDeps(deps)(testReports),
    flakyTests: bindDeps(deps)(flakyTests),
    timings: createTimingService(deps),
    retention: { of: bindDeps(deps)(retentionOf), set: bindDeps(deps)(setRetention) },
    environments: createEnvironmentService(deps),
    secrets: createSecretService(deps),
    /** Re-encrypts all secrets after a rotation of the instance key. */
    reencrypt: async () =>
      (await reencryptSecrets(deps)) + (await reencryptEnvironmentSecrets(deps)) + (await reencryptIdentityKeys(deps)),
    variables: createVariableService(deps),

    /** Registers a listener for the end of every run, called inside the write that ends it. */
    onRunEnd: (ending: RunEndListener) => void deps.endings.push(ending),
    /** Registers a listener for deployments and their statuses, called inside the write. */
    onDeployment: (tell: DeploymentListener) => void deps.deploymentListeners.push(tell),
    /** Registers a listener for jobs that start waiting for a reviewer, called inside the write. */
    onReviewRequest: (tell: ReviewListener) => void deps.reviewListeners.push(tell),
    /** Listener for `repositories.pushes.onPush`. */
    onPush: runOnPush(deps),

    /** Listener for `releases.onEvent`. */
    onRelease: recordRelease,

    /** Runs of pull requests, and their approval; requires an earlier call of `onPull`. */
    pulls: createPullRunService(deps),
    /** Listener for `issues.onEntry`. */
    onPull(sources: PullRunDeps) {
      pullSources = sources;
      return runOnPulls(deps, sources);
    },

    /** Listener for `issues.onEntry` that starts workflows on `issues` and `issue_comment`. */
    onIssue: (sources: IssueRunDeps) => runOnIssues(deps, sources),

    /** Called at start, before any port opens: removes files of calls that a crash interrupted. */
    async recover(): Promise<void> {
      startedAt = clock.now();
      await deps.logs.sweep();
      await deps.artifacts.uploads.recover();
    },
    /**
     * Continues runs that a crash interrupted. Called once the ports are open, because it reads the workflow of every
     * unfinished run.
     */
    advanceRuns: () => (advancing = advanceAll(deps, () => hasStopped)),
    /** Called every few seconds: ends tasks and runners that have timed out. */
    async sweep(): Promise<void> {
      await sweepTasks(deps, startedAt);
      await startPendingEvents(deps);
    },
    /** Called every night: removes expired logs and artifacts, and expired signing keys. */
    async removeOld() {
      await removeRetired(deps);
      const removed = await removeExpired(deps);
      return { ...removed, runs: await removeOldRuns(deps) };
    },
    /** Called every minute: moves complete logs to the bucket, if there is one. */
    storeLogs: () => uploadLogs(deps),
    /** Called every minute: starts scheduled workflows that are due. */
    runSchedules: () => runSchedules(deps),
    /** Listener for `repositories.onDefaultBranch`. */
    onDefaultBranch: bindDeps(deps)(replanSchedules),
    /** Ends the waits of polling runners, before the listeners close. */
    stopWaiting: () => queue.stop(),
    async stop(): Promise<void> {
      hasStopped = true;
      await advancing;
      await queue.stop();
      await deps.presence.write(db);
      await deps.logs.close();
    },
  };
}

export type Ci = ReturnType<typeof createCi>;
