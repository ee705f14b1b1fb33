import { artifactFileSchema, artifactSchema } from './schema/artifact-schema.ts';
import { registrationTokenSchema, runnerSchema } from './schema/runner-schema.ts';
import { annotationSchema, summarySchema } from './schema/annotation-schema.ts';
import { jobSchema } from './schema/job-schema.ts';
import { callMatrixSchema } from './schema/call-matrix-schema.ts';
import { runNumberSchema, runSchema, workflowFileSchema } from './schema/run-schema.ts';
import {
  environmentRefSchema,
  environmentReviewerSchema,
  environmentSchema,
  environmentSecretSchema,
  environmentVariableSchema,
} from './schema/environment-schema.ts';
import { deploymentReviewSchema, deploymentSchema, deploymentStatusSchema } from './schema/deployment-schema.ts';
import { retentionSchema } from './schema/retention-schema.ts';
import { scheduleSchema } from './schema/schedule-schema.ts';
import { pendingEventSchema } from './schema/event-schema.ts';
import { identityKeySchema } from './schema/identity-key-schema.ts';
import { ciRepositorySchema, disabledWorkflowSchema } from './schema/settings-schema.ts';
import { secretSchema, variableSchema } from './schema/secret-schema.ts';
import { outputSchema, stepSchema, taskSchema } from './schema/task-schema.ts';

export type { DeploymentListener, ReviewListener } from './ports/deployment-listeners.ts';
export { environmentPath } from './workflows/environment-name.ts';
export type { Environment } from './environments/find-environment.ts';
export type { EnvironmentChange } from './deployments/manage-environments.ts';
export type { PendingDeployment } from './deployments/review-deployments.ts';
export { deploymentStates } from './schema/deployment-schema.ts';
export type { DeploymentRow, DeploymentState, DeploymentStatusRow } from './schema/deployment-schema.ts';
export { artifactKey, artifactPrefix } from './artifact-storage/artifact-store.ts';
export { ciSettings } from './ci-settings.ts';
export { createCi } from './ci.ts';
export type { Ci } from './ci.ts';
export { logKey, logPrefix } from './log-storage/remote-log-cache.ts';
export type { CiRepositorySettings } from './settings/repository-settings.ts';
export { instanceScope } from './scope.ts';
export type { CiScope } from './scope.ts';
export type { OwnerScope } from './runs/list-across.ts';
export type { Annotation } from './annotations/list-annotations.ts';
export { maxSummaryBytes } from './summaries/step-summaries.ts';
export type { ArtifactFileRow, ArtifactRow } from './schema/artifact-schema.ts';
export type { FileChunk } from './artifacts/upload-v3-artifact.ts';
export type { RunningTask } from './artifacts/authorise-task.ts';
export type { OpenedArtifact } from './artifacts/list-artifacts.ts';
export { readLogCommand } from './log-command.ts';
export type { AnnotationLevel, LogCommand } from './log-command.ts';
export type { ArtifactOfRun } from './artifacts/repository-artifacts.ts';
export type { ArtifactFile } from './artifacts/browse-artifact.ts';
export type { Retention } from './retention/repository-retention.ts';
export type { FlakyTest } from './reports/flaky-tests.ts';
export type { TestCase, TestResult } from './reports/test-report.ts';
export type { RowBuffer } from './log-storage/row-buffer.ts';
export type { StoredRow } from './log-storage/row-buffer.ts';
export type { Runner } from './runner-model/runner.ts';
export type { RunnerTask } from './runners/runner-tasks.ts';
export type { RunnerRow } from './schema/runner-schema.ts';
export type { JobRow } from './schema/job-schema.ts';
export type { RunEndListener } from './ports/run-end-listener.ts';
export { describeJob, describeRun } from './runs/describe-run.ts';
export type { RunRow } from './schema/run-schema.ts';
export { awaitsApproval, isFinal } from './run-status.ts';
export { checkWorkflow } from './workflows/check-workflow.ts';
export type { FileFinding } from './workflows/file-finding.ts';
export { isWorkflowPath, workflowFolders } from './workflows/find-workflows.ts';
export type { PullApproval } from './pulls/pull-run-service.ts';
export type { FinalStatus, RunStatus } from './run-status.ts';
export { runStatusGroups } from './runs/list-runs.ts';
export { eventNames } from './workflows/workflow.ts';
export type { RunFilter } from './runs/list-runs.ts';
export type { EventTrigger, Filter, PlainEventName, PullTrigger, PushTrigger, Triggers } from './workflows/workflow.ts';
export type { ListedWorkflow } from './runs/dispatch-workflow.ts';
export type { ComparedJob } from './timings/compare-runs.ts';
export type { Timeline } from './timings/timeline.ts';
export type { PlannedRun } from './runs/list-schedules.ts';
export { zoneOf } from './workflows/cron.ts';
export { statusOfMatrix } from './run-status.ts';
export type { QueuedJob } from './tasks/explain-queue.ts';
export type { TaskReport } from './tasks/report-task.ts';
export type { TaskContent } from './tasks/task-content.ts';
export type { StepRow, TaskRow } from './schema/task-schema.ts';

export const ciEntities = [
  pendingEventSchema,
  identityKeySchema,
  ciRepositorySchema,
  disabledWorkflowSchema,
  runnerSchema,
  registrationTokenSchema,
  workflowFileSchema,
  runSchema,
  jobSchema,
  taskSchema,
  stepSchema,
  outputSchema,
  secretSchema,
  variableSchema,
  scheduleSchema,
  runNumberSchema,
  callMatrixSchema,
  artifactSchema,
  artifactFileSchema,
  annotationSchema,
  summarySchema,
  retentionSchema,
  environmentSchema,
  environmentReviewerSchema,
  environmentRefSchema,
  environmentSecretSchema,
  environmentVariableSchema,
  deploymentSchema,
  deploymentStatusSchema,
  deploymentReviewSchema,
];
