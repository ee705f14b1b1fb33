import { inAdministration, inOrganisationSettings, inPersonSettings, inRepositorySettings } from '../app/route.ts';
import type { Route, SettingsRow } from '../app/route.ts';
import type { PersonContext } from '../app/request-context.ts';
import { downloadArtifact, removeArtifact } from './artifacts.page.ts';
import { downloadArtifactFile, showArtifactFiles } from './artifact-files.page.ts';
import { showBadge } from './badge.page.ts';
import { dispatchWorkflow, showDispatch } from './dispatch.page.ts';
import { followRun, downloadLog, followJob } from './job-log.page.ts';
import { showJob } from './job.page.ts';
import { showAdminQueue, showQueue } from './queue.page.ts';
import { approveRun, showRun, cancelRun, rerunJobs, removeRun, reviewDeployments } from './run.page.ts';
import { showRuns } from './runs.page.ts';
import { showWorkflowFile } from './workflow-file.page.ts';
import { showTests } from './tests.page.ts';
import { showTimeline } from './timeline.page.ts';
import { saveRetention, showRetention } from './retention.page.ts';
import { saveCiSettings, showWorkflows, switchWorkflow } from './workflows.page.ts';
import { redeploy, showEnvironment, showEnvironments } from './environments.page.ts';
import {
  addEnvironment,
  removeEnvironment,
  removeEnvironmentSecret,
  removeEnvironmentVariable,
  saveEnvironment,
  setEnvironmentSecret,
  setEnvironmentVariable,
  showEnvironmentList,
  showEnvironmentSettings,
} from './environment-settings.page.ts';
import { runnerPages } from './runners.page.ts';
import { ofInstance, ofOrganisation, ofPerson, ofRepository } from './scopes.ts';
import type { ScopePageOf } from './scopes.ts';
import { secretPages } from './secrets.page.ts';

const at = '/repos/:owner/:name';

const runPages: readonly Route[] = [
  { method: 'GET', path: '/admin/queue', access: 'administrator', cost: 'rows', page: showAdminQueue },
  { method: 'GET', path: `${at}/runs`, access: 'repository:read', cost: 'rows', page: showRuns },
  { method: 'POST', path: `${at}/runs`, access: 'repository:write', cost: 'objects', page: dispatchWorkflow },
  { method: 'GET', path: `${at}/runs/new`, access: 'repository:write', cost: 'objects', page: showDispatch },
  { method: 'GET', path: `${at}/runs/queue`, access: 'repository:read', cost: 'rows', page: showQueue },
  { method: 'GET', path: `${at}/runs/workflows`, access: 'repository:read', cost: 'objects', page: showWorkflows },
  {
    method: 'POST',
    path: `${at}/runs/workflows/switch`,
    access: 'repository:write',
    cost: 'rows',
    page: switchWorkflow,
  },
  {
    method: 'POST',
    path: `${at}/runs/workflows/settings`,
    access: 'repository:admin',
    cost: 'rows',
    page: saveCiSettings,
  },
  { method: 'GET', path: `${at}/runs/badge/*workflow`, access: 'repository:read', cost: 'rows', page: showBadge },
  { method: 'GET', path: `${at}/runs/:number`, access: 'repository:read', cost: 'rows', page: showRun },
  {
    method: 'GET',
    path: `${at}/runs/:number/workflow`,
    access: 'repository:read',
    cost: 'objects',
    page: showWorkflowFile,
  },
  { method: 'GET', path: `${at}/runs/:number/timeline`, access: 'repository:read', cost: 'rows', page: showTimeline },
  { method: 'GET', path: `${at}/runs/:number/live`, access: 'repository:read', cost: 'rows', page: followRun },
  { method: 'POST', path: `${at}/runs/:number/cancel`, access: 'repository:write', cost: 'rows', page: cancelRun },
  { method: 'POST', path: `${at}/runs/:number/approve`, access: 'repository:write', cost: 'rows', page: approveRun },
  // A reviewer may have only read access.
  {
    method: 'POST',
    path: `${at}/runs/:number/deployments`,
    access: 'repository:read',
    cost: 'rows',
    page: reviewDeployments,
  },
  { method: 'POST', path: `${at}/runs/:number/rerun`, access: 'repository:write', cost: 'rows', page: rerunJobs },
  { method: 'POST', path: `${at}/runs/:number/delete`, access: 'repository:admin', cost: 'rows', page: removeRun },
  {
    method: 'GET',
    path: `${at}/runs/:number/artifacts/:id`,
    access: 'repository:read',
    cost: 'transfer',
    page: downloadArtifact,
  },
  {
    method: 'GET',
    path: `${at}/runs/:number/artifacts/:id/files`,
    access: 'repository:read',
    cost: 'objects',
    page: showArtifactFiles,
  },
  {
    method: 'GET',
    path: `${at}/runs/:number/artifacts/:id/files/*path`,
    access: 'repository:read',
    cost: 'transfer',
    page: downloadArtifactFile,
  },
  { method: 'GET', path: `${at}/runs/:number/tests`, access: 'repository:read', cost: 'objects', page: showTests },
  {
    method: 'POST',
    path: `${at}/runs/:number/artifacts/:id/delete`,
    access: 'repository:write',
    cost: 'rows',
    page: removeArtifact,
  },
  { method: 'GET', path: `${at}/runs/:number/jobs/:job`, access: 'repository:read', cost: 'rows', page: showJob },
  {
    method: 'GET',
    path: `${at}/runs/:number/jobs/:job/log`,
    access: 'repository:read',
    cost: 'rows',
    page: downloadLog,
  },
  {
    method: 'GET',
    path: `${at}/runs/:number/jobs/:job/live`,
    access: 'repository:read',
    cost: 'rows',
    page: followJob,
  },
];

const environmentPages: readonly Route[] = [
  { method: 'GET', path: `${at}/environments`, access: 'repository:read', cost: 'rows', page: showEnvironments },
  {
    method: 'GET',
    path: `${at}/environments/*environment`,
    access: 'repository:read',
    cost: 'rows',
    page: showEnvironment,
  },
  { method: 'POST', path: `${at}/environments/redeploy`, access: 'repository:write', cost: 'rows', page: redeploy },
  inRepositorySettings('GET', '/environments', showEnvironmentList),
  inRepositorySettings('POST', '/environments', addEnvironment),
  inRepositorySettings('POST', '/environments/rules', saveEnvironment),
  inRepositorySettings('POST', '/environments/delete', removeEnvironment),
  inRepositorySettings('POST', '/environments/secrets', setEnvironmentSecret),
  inRepositorySettings('POST', '/environments/secrets/delete', removeEnvironmentSecret),
  inRepositorySettings('POST', '/environments/variables', setEnvironmentVariable),
  inRepositorySettings('POST', '/environments/variables/delete', removeEnvironmentVariable),
  inRepositorySettings('GET', '/environments/*environment', showEnvironmentSettings),
];

const retentionPages: readonly Route[] = [
  inRepositorySettings('GET', '/retention', showRetention),
  inRepositorySettings('POST', '/retention', saveRetention),
];

/** Runners, secrets and variables: of the instance, a user, an organisation or a repository. */
function scopeRoutes<V extends PersonContext>(row: SettingsRow<V>, scopeOf: ScopePageOf<V>): Route[] {
  const runners = runnerPages(scopeOf);
  const secrets = secretPages(scopeOf);
  return [
    row('GET', '/runners', runners.show),
    row('POST', '/runners', runners.add),
    row('POST', '/runners/token', runners.resetToken),
    row('GET', '/runners/token/:oneTimeToken', runners.showToken),
    row('GET', '/runners/new/:oneTimeToken', runners.showNew),
    row('GET', '/runners/:id', runners.showOne),
    row('POST', '/runners/:id/labels', runners.setLabels),
    row('POST', '/runners/:id/pause', runners.pause),
    row('POST', '/runners/:id/resume', runners.resume),
    row('POST', '/runners/:id/trust', runners.setTrust),
    row('POST', '/runners/:id/delete', runners.remove),
    row('GET', '/secrets', secrets.show),
    row('POST', '/secrets', secrets.setSecret),
    row('POST', '/secrets/:secret/delete', secrets.removeSecret),
    row('POST', '/variables', secrets.setVariable),
    row('POST', '/variables/:variable/delete', secrets.removeVariable),
  ];
}

/** CI: workflow runs, jobs, logs, artifacts, the queue, runners, secrets and variables. */
export const runsRoutes: readonly Route[] = [
  ...runPages,
  ...environmentPages,
  ...retentionPages,
  ...scopeRoutes(inAdministration, ofInstance),
  ...scopeRoutes(inPersonSettings, ofPerson),
  ...scopeRoutes(inOrganisationSettings, ofOrganisation),
  ...scopeRoutes(inRepositorySettings, ofRepository),
];
