import path from 'node:path';
import type { Viewer } from '../access/index.ts';
import { createNotifier } from '../kernel/index.ts';
import type { Clock, LogFields, Logger, Random } from '../kernel/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Found, Repositories } from '../repositories/index.ts';
import type { WorkerPool } from '../workers/index.ts';
import {
  filesOfArtifact,
  finishFileArtifact,
  openArtifactFile,
  openFileArtifact,
  receiveFile,
} from './artifacts/artifact-files.ts';
import { ArtifactStore } from './artifacts/artifact-store.ts';
import { authoriseTask } from './artifacts/authorise-task.ts';
import {
  artifactsOfTask,
  signedUrlOfArtifact,
  listArtifacts,
  openArtifact,
  openBySignedUrl,
  removeArtifact,
  removeArtifactOfTask,
} from './artifacts/list-artifacts.ts';
import { assembleArtifact, createArtifact, finishArtifact, receiveArtifact } from './artifacts/upload-artifact.ts';
import { runTopic } from './topics.ts';
import { LogStore } from './logs/log-store.ts';
import { followLog, rawLog, readLog, searchLog } from './logs/read-log.ts';
import { Masks, receiveLog } from './logs/receive-log.ts';
import type { IncomingLog } from './logs/receive-log.ts';
import { removeOld } from './retention/remove-old.ts';
import { removeRun } from './retention/remove-run.ts';
import type { CiDeps, CiSettings } from './deps.ts';
import { authenticateRunner } from './runners/authenticate-runner.ts';
import { declareRunner, findRunner, listRunners, removeRunner, setRunnerDisabled } from './runners/manage-runners.ts';
import { Presence } from './runners/presence.ts';
import { createRunner, registerOffline, registerRunner } from './runners/register-runner.ts';
import { makeSingleUseToken, registrationTokenMadeAt, resetRegistrationToken } from './runners/registration-tokens.ts';
import type { RunnerRow } from './schema/runner-schema.ts';
import type { AfterCommit } from './runs/after-commit.ts';
import { cancelRun } from './runs/cancel-run.ts';
import { advanceAll, changeRuns } from './runs/change-runs.ts';
import { dispatchWorkflow, listDispatchable, listWorkflows } from './runs/dispatch-workflow.ts';
import { findJob, findRun } from './runs/find-run.ts';
import { listRuns, newestChecked, newestRun, workflowsOf } from './runs/list-runs.ts';
import type { RunFilter } from './runs/list-runs.ts';
import { RunLoader } from './runs/load-run.ts';
import { rerun } from './runs/rerun.ts';
import type { RerunChoice } from './runs/rerun.ts';
import type { RunEnding } from './runs/run-ending.ts';
import { runOnPush } from './runs/run-on-push.ts';
import { runSchedules } from './runs/schedules.ts';
import { InstanceKey } from '../sealing/index.ts';
import type { CiScope } from './scope.ts';
import { listSecrets, removeSecret, setSecret } from './secrets/secrets.ts';
import { listVariables, removeVariable, setVariable } from './secrets/variables.ts';
import { claimTask } from './tasks/claim-task.ts';
import type { Claim } from './tasks/claim.ts';
import { explainQueue } from './tasks/explain-queue.ts';
import { FairScheduler } from './tasks/fair-scheduler.ts';
import { FetchCalls, fetchTask, returnTask } from './tasks/fetch-task.ts';
import type { FetchOptions } from './tasks/fetch-task.ts';
import { reportTask } from './tasks/report-task.ts';
import { sweepTasks } from './tasks/sweep-tasks.ts';
import { TaskQueue } from './tasks/task-queue.ts';
import { TaskReports } from './tasks/task-reports.ts';
import { viewerOfTaskToken } from './tasks/task-token.ts';
import { WorkflowReader } from './workflows/workflow-reader.ts';

export interface CiOptions {
  db: Database;
  accounts: Pick<Accounts, 'peopleById'>;
  repositories: Repositories;
  git: Git;
  workers: WorkerPool;
  clock: Clock;
  random: Random;
  logger: Logger;
  settings: CiSettings;
}

/**
 * CI: workflows of repositories, their runs, the runners that work on them, logs and
 * secrets. The function behind each name says what it does and what it refuses.
 */
export function createCi(options: CiOptions) {
  const { db, clock, random, logger, settings } = options;
  const order = new FairScheduler();
  const queue = new TaskQueue({
    db,
    logger,
    claim: (runner, requestKey): Promise<Claim | null> =>
      changeRuns(deps, (tx, after: AfterCommit) => claimTask(deps, tx, after, runner, requestKey, order)),
    release: ({ task }) => returnTask(deps, task.id),
  });
  const workflows = new WorkflowReader(options.workers);
  const deps: CiDeps = {
    ...options,
    key: new InstanceKey(settings.keyFile, random, 'ci'),
    presence: new Presence(clock),
    workflows,
    runs: new RunLoader({ ...options, workflows }),
    notifier: createNotifier(),
    reports: new TaskReports(),
    logs: new LogStore(path.join(settings.folder, 'logs'), random),
    artifacts: new ArtifactStore(path.join(settings.folder, 'artifacts')),
    queue,
    endings: [],
  };
  const calls = new FetchCalls();
  const masks = new Masks();
  let startedAt = 0;
  let hasStopped = false;
  let advancing: Promise<void> = Promise.resolve();

  /** Gives the room to a use-case; what remains are the parameters its own page describes. */
  const bind =
    <Rest extends unknown[], Result>(useCase: (deps: CiDeps, ...rest: Rest) => Result) =>
    (...rest: Rest): Result =>
      useCase(deps, ...rest);

  /** The same for an act that the audit log keeps. */
  const noted =
    <Rest extends unknown[], Result>(
      useCase: (deps: CiDeps, ...rest: Rest) => Promise<Result>,
      event: (...rest: Rest) => string,
      fields: (...rest: Rest) => LogFields,
    ) =>
    async (...rest: Rest): Promise<Result> => {
      const result = await useCase(deps, ...rest);
      logger.info(event(...rest), fields(...rest));
      return result;
    };
  const inWords = (scope: CiScope | null): LogFields =>
    scope === null ? {} : { scope: scope.kind, ...('id' in scope ? { scopeId: scope.id } : {}) };

  return {
    resetRegistrationToken: noted(
      resetRegistrationToken,
      () => 'runner.token_made',
      (scope) => inWords(scope),
    ),
    makeOnceToken: noted(
      makeSingleUseToken,
      () => 'runner.token_made',
      (scope) => ({ ...inWords(scope), once: true }),
    ),
    registrationTokenMadeAt: bind(registrationTokenMadeAt),
    registerRunner: bind(registerRunner),
    registerOffline: bind(registerOffline),
    createRunner: bind(createRunner),
    authenticateRunner: bind(authenticateRunner),
    declareRunner: bind(declareRunner),
    listRunners: bind(listRunners),
    findRunner: bind(findRunner),
    setRunnerDisabled: noted(
      setRunnerDisabled,
      (_scope, _id, isDisabled) => (isDisabled ? 'runner.disabled' : 'runner.enabled'),
      (scope, runner) => ({ runner, ...inWords(scope) }),
    ),
    removeRunner: bind(removeRunner),

    fetchTask: (runner: RunnerRow, fetch: FetchOptions) => fetchTask(deps, calls, runner, fetch),
    /** For an answer that could not be sent: its job waits again. */
    returnTask: bind(returnTask),
    reportTask: bind(reportTask),
    newLogRows: () => deps.logs.newRows(),
    receiveLog: (runner: RunnerRow, incoming: IncomingLog) => receiveLog(deps, masks, runner, incoming),
    viewerOfTaskToken: bind(viewerOfTaskToken),

    listRuns: (found: Found, filter: RunFilter, page: { limit: number; before?: number | undefined }) =>
      listRuns(deps, found, filter, page),
    workflowsOf: bind(workflowsOf),
    newestRun: bind(newestRun),
    newestChecked: bind(newestChecked),
    findRun: bind(findRun),
    findJob: bind(findJob),
    explainQueue: bind(explainQueue),
    readLog: bind(readLog),
    rawLog: bind(rawLog),
    searchLog: bind(searchLog),
    followLog: bind(followLog),
    /** Resolves when something about a run has changed, or after a while. */
    waitForRun: (runId: number, options: { signal: AbortSignal; timeoutMs: number }) =>
      deps.notifier.wait(runTopic(runId), options),
    cancelRun: bind(cancelRun),
    rerun: (viewer: Viewer, found: Found, number: number, choice: RerunChoice) =>
      rerun(deps, viewer, found, number, choice),
    listDispatchable: bind(listDispatchable),
    listWorkflows: bind(listWorkflows),
    dispatchWorkflow: bind(dispatchWorkflow),

    removeRun: bind(removeRun),

    authoriseTask: bind(authoriseTask),
    createArtifact: bind(createArtifact),
    receiveArtifact: bind(receiveArtifact),
    assembleArtifact: bind(assembleArtifact),
    finishArtifact: bind(finishArtifact),
    artifactsOfTask: bind(artifactsOfTask),
    linkToArtifact: bind(signedUrlOfArtifact),
    openByLink: bind(openBySignedUrl),
    removeArtifactOfTask: bind(removeArtifactOfTask),
    openFileArtifact: bind(openFileArtifact),
    receiveFile: bind(receiveFile),
    finishFileArtifact: bind(finishFileArtifact),
    filesOfArtifact: bind(filesOfArtifact),
    openArtifactFile: bind(openArtifactFile),
    listArtifacts: bind(listArtifacts),
    openArtifact: bind(openArtifact),
    removeArtifact: bind(removeArtifact),

    listSecrets: bind(listSecrets),
    setSecret: noted(
      setSecret,
      () => 'secret.set',
      (scope, { name }) => ({ name, ...inWords(scope) }),
    ),
    removeSecret: noted(
      removeSecret,
      () => 'secret.removed',
      (scope, name) => ({ name, ...inWords(scope) }),
    ),
    listVariables: bind(listVariables),
    setVariable: bind(setVariable),
    removeVariable: bind(removeVariable),

    /** Plugs in who hears of the end of every run, inside the write that ends it. */
    onRunEnd: (ending: RunEnding) => void deps.endings.push(ending),
    /** For `repositories.onPush`. */
    onPush: runOnPush(deps),

    /** At start, before any port opens: removes files of calls that a crash cut short. */
    async recover(): Promise<void> {
      startedAt = clock.now();
      await deps.logs.sweep();
      await deps.artifacts.recover();
    },
    /** Once the ports are open, because it reads every unfinished run's workflow: goes on with what a crash left half done. */
    advanceRuns: () => (advancing = advanceAll(deps, () => hasStopped)),
    /** Every few seconds: what time does to tasks and runners. */
    sweep: () => sweepTasks(deps, startedAt),
    /** Once a night: logs and artifacts whose time is over. */
    removeOld: () => removeOld(deps),
    /** Every minute: workflows that start by the clock. */
    runSchedules: () => runSchedules(deps),
    /** Lets waiting runners go; for the moment when the doors are about to close. */
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
