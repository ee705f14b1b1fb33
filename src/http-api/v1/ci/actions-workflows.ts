import { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { pageOfRuns, runQuery } from './action-run-pages.ts';
import { actionRuns, actionWorkflow, actionWorkflows, actionsUrl, pageUrl } from './actions-schemas.ts';
import type { ActionsContext } from './actions-schemas.ts';
import { plannedRun } from './ci-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';
import { textOfInput } from './workflow-inputs.ts';

const at = '/repos/{owner}/{name}/actions';
const shared = { tag: 'Runs', cost: 'rows' } as const;

async function workflowsOf(where: ActionsContext & { found: Found }) {
  const { found, deps } = where;
  const disabled = await deps.ci.settings.disabledWorkflows(found.repository.id);
  return (await deps.ci.workflows.list(found)).map(({ path, folder, name }) => {
    const id = encodeURIComponent(path);
    return {
      id: path,
      name,
      path: `${folder}/${path}`,
      state: disabled.has(path) ? ('disabled_manually' as const) : ('active' as const),
      url: `${actionsUrl(where)}/workflows/${id}`,
      html_url: `${pageUrl(where)}/runs?workflow=${id}`,
      badge_url: `${pageUrl(where)}/runs/badge/${path.split('/').map(encodeURIComponent).join('/')}.svg`,
    };
  });
}

const listActionWorkflows = operation({
  ...shared,
  id: 'listActionWorkflows',
  method: 'GET',
  path: `${at}/workflows`,
  summary: 'List the default branch’s workflows in Gitea’s format',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: actionWorkflows,
  async run({ found, deps, origin }) {
    const workflows = await workflowsOf({ found, deps, origin });
    return json({ total_count: workflows.length, workflows });
  },
});

const finding = z.object({
  severity: z.enum(['error', 'warning']),
  line: z.int(),
  column: z.int(),
  message: z.string(),
});

const listPlannedRuns = operation({
  ...shared,
  id: 'listPlannedRuns',
  method: 'GET',
  path: '/repos/{owner}/{name}/schedules',
  summary: 'List the next scheduled run of every schedule, soonest first',
  access: 'repository:read',
  status: 200,
  response: z.array(plannedRun),
  async run({ found, deps }) {
    return json(
      (await deps.ci.workflows.planned(found)).map(({ at: next, ...run }) => ({ ...run, at: isoTime(next) })),
    );
  },
});

/** Path of the checked workflow file. */
const maxCheckedCharacters = 1024 * 1024;

const checkActionWorkflow = operation({
  ...shared,
  id: 'checkActionWorkflow',
  method: 'POST',
  path: `${at}/workflows/check`,
  summary: 'Check a workflow file before committing it, without starting a run',
  access: 'repository:write',
  cost: 'objects',
  maxJsonBytes: 3 * maxCheckedCharacters,
  body: z.object({
    content: z.string().max(maxCheckedCharacters),
    path: z.string().max(1000).default('workflow.yml').describe('File path relative to the workflow directory'),
  }),
  status: 200,
  response: z.object({ valid: z.boolean(), findings: z.array(finding) }),
  async run({ found, body, deps }) {
    const findings = await deps.ci.workflows.check(found, body.path, body.content);
    return json({ valid: !findings.some(({ severity }) => severity === 'error'), findings });
  },
});

const getActionWorkflow = operation({
  ...shared,
  id: 'getActionWorkflow',
  method: 'GET',
  path: `${at}/workflows/{workflow}`,
  summary: 'Get a workflow of the default branch by file name in Gitea’s format',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: actionWorkflow,
  async run({ found, params, deps, origin }) {
    const workflow = (await workflowsOf({ found, deps, origin })).find(({ id }) => id === params.workflow);
    if (workflow === undefined) throw notFound('workflow_not_found', 'There is no such workflow.');
    return json(workflow);
  },
});

const dispatchActionWorkflow = operation({
  ...shared,
  id: 'dispatchActionWorkflow',
  method: 'POST',
  path: `${at}/workflows/{workflow}/dispatches`,
  summary: 'Start a workflow manually (compatible with Gitea and GitHub)',
  access: 'repository:write',
  cost: 'objects',
  status: 204,
  body: z
    .strictObject({
      ref: z.string().max(1000).describe('Branch or tag, or its full ref name'),
      inputs: z.record(z.string().max(200), z.json()).optional(),
    })
    .meta({ id: 'CreateActionWorkflowDispatch' }),
  async run({ viewer, found, params, body: { ref, inputs = {} }, deps }) {
    await deps.ci.workflows.dispatch(viewer, found, {
      path: params.workflow,
      ref,
      inputs: new Map(Object.entries(inputs).map(([name, value]) => [name, textOfInput(value)])),
    });
    return noContent();
  },
});

const switchOperation = (word: 'enable' | 'disable') =>
  operation({
    ...shared,
    id: `${word}ActionWorkflow`,
    method: 'PUT',
    path: `${at}/workflows/{workflow}/${word}` as `${typeof at}/workflows/{workflow}/enable`,
    summary: word === 'enable' ? 'Enable a workflow' : 'Disable a workflow on all branches',
    access: 'repository:write',
    status: 204,
    async run({ viewer, found, params, deps }) {
      await deps.ci.settings.switchWorkflow(viewer, found, { path: params.workflow, isEnabled: word === 'enable' });
      return noContent();
    },
  });

const listWorkflowRuns = operation({
  ...shared,
  id: 'listWorkflowRuns',
  method: 'GET',
  path: `${at}/workflows/{workflow}/runs`,
  summary: 'List a workflow’s runs in Gitea’s format, newest first',
  description: 'Takes the workflow’s file name, even if the file no longer exists.',
  access: 'repository:read',
  status: 200,
  query: runQuery,
  response: actionRuns,
  run: ({ params, query, ...where }) => pageOfRuns(where, query, params.workflow),
});

/** Workflows in the shapes of Gitea's API, which are GitHub's. */
export const actionWorkflowOperations: readonly Operation[] = [
  listActionWorkflows,
  listPlannedRuns,
  checkActionWorkflow,
  getActionWorkflow,
  listWorkflowRuns,
  dispatchActionWorkflow,
  switchOperation('enable'),
  switchOperation('disable'),
];
