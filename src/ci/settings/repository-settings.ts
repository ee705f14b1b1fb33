import type { EntityManager } from 'typeorm';
import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { DefaultTaskPermissions, Viewer } from '../../access/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { requireLevel } from '../require-level.ts';
import { ciRepositorySchema, disabledWorkflowSchema } from '../schema/settings-schema.ts';
import { findWorkflows } from '../workflows/find-workflows.ts';
import type { WorkflowFile } from '../workflows/find-workflows.ts';

/** CI settings of a repository. */
export interface CiRepositorySettings {
  isEnabled: boolean;
  /** The repository's own setting; null for the default of the server. */
  tokenPermissions: DefaultTaskPermissions | null;
}

const defaults: CiRepositorySettings = { isEnabled: true, tokenPermissions: null };

/** The settings of a repository. No access check. */
export async function settingsOf(
  { db }: Pick<CiDeps, 'db'>,
  repositoryId: string,
  manager: EntityManager = db.read,
): Promise<CiRepositorySettings> {
  const row = await manager.findOneBy(ciRepositorySchema, { repositoryId });
  return row === null ? defaults : { isEnabled: row.isEnabled, tokenPermissions: row.tokenPermissions };
}

/** Permissions of the job token if the workflow does not set them. */
export async function defaultPermissionsOf(
  deps: Pick<CiDeps, 'db' | 'settings'>,
  repositoryId: string,
): Promise<DefaultTaskPermissions> {
  return (await settingsOf(deps, repositoryId)).tokenPermissions ?? deps.settings.tokenPermissions;
}

/**
 * Changes the settings; omitted fields stay. Started runs continue. Throws `repository_not_found` unless the viewer
 * administers the repository, `invalid_token_permissions`.
 */
export async function changeSettings(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  change: Partial<CiRepositorySettings>,
): Promise<CiRepositorySettings> {
  requireLevel(found, 'admin');
  const { tokenPermissions } = change;
  if (tokenPermissions != null && tokenPermissions !== 'read' && tokenPermissions !== 'write')
    throw invalid('invalid_token_permissions', 'Choose read, write or the server default.', {
      field: 'token_permissions',
    });
  const repositoryId = found.repository.id;
  const changed = await deps.db.write(async ({ manager }) => {
    const settings = { ...(await settingsOf(deps, repositoryId, manager)), ...change };
    await manager.upsert(ciRepositorySchema, { repositoryId, ...settings }, ['repositoryId']);
    return settings;
  });
  deps.logger.info('ci.settings_changed', { repository: repositoryId, ...change, by: viewerForLog(viewer) });
  return changed;
}

/** Paths of the disabled workflows. */
export async function disabledWorkflows({ db }: Pick<CiDeps, 'db'>, repositoryId: string): Promise<Set<string>> {
  const rows = await db.read.findBy(disabledWorkflowSchema, { repositoryId });
  return new Set(rows.map(({ workflowPath }) => workflowPath));
}

const maxDisabled = 500;
const maxPathLength = 1000;

/**
 * Disables or enables a workflow on all branches; events do not start a disabled one. The path need not exist yet.
 * Throws `repository_not_found` without write access, `workflow_path_too_long`, `too_many_disabled_workflows`.
 */
export async function switchWorkflow(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  { path, isEnabled }: { path: string; isEnabled: boolean },
): Promise<void> {
  requireLevel(found, 'write');
  if (path === '' || path.length > maxPathLength)
    throw invalid('workflow_path_too_long', 'Enter the file name of a workflow.', { field: 'workflow' });
  const repositoryId = found.repository.id;
  const key = { repositoryId, workflowPath: path };
  await deps.db.write(async ({ manager, now }) => {
    if (isEnabled) return void (await manager.delete(disabledWorkflowSchema, key));
    if (await manager.existsBy(disabledWorkflowSchema, key)) return;
    if ((await manager.countBy(disabledWorkflowSchema, { repositoryId })) >= maxDisabled)
      throw invalid('too_many_disabled_workflows', `At most ${maxDisabled} workflows can be disabled.`);
    await manager.insert(disabledWorkflowSchema, { ...key, disabledBy: personIdOf(viewer), disabledAt: now });
  });
  const event = isEnabled ? 'ci.workflow_enabled' : 'ci.workflow_disabled';
  deps.logger.info(event, { repository: repositoryId, workflow: path, by: viewerForLog(viewer) });
}

/** Whether events start workflows of a repository, by the settings of the server and of the repository. */
export async function runsWorkflows(deps: Pick<CiDeps, 'db' | 'settings'>, repositoryId: string): Promise<boolean> {
  return deps.settings.isEnabled && (await settingsOf(deps, repositoryId)).isEnabled;
}

/** The workflows of a commit that are not disabled. */
export async function enabledWorkflows(
  deps: Pick<CiDeps, 'db' | 'git' | 'settings'>,
  { repositoryId, path }: { repositoryId: string; path: string },
  sha: string,
): Promise<WorkflowFile[]> {
  if (!(await runsWorkflows(deps, repositoryId))) return [];
  const disabled = await disabledWorkflows(deps, repositoryId);
  const files = await findWorkflows(deps.git, path, sha);
  return files.filter((file) => !disabled.has(file.path));
}

/** Throws `ci_disabled` or `workflow_disabled` if a user may not start this workflow. */
export async function requireEnabled(deps: CiDeps, repositoryId: string, workflowPath: string): Promise<void> {
  if (!(await runsWorkflows(deps, repositoryId))) throw conflict('ci_disabled', 'CI is disabled for this repository.');
  if ((await disabledWorkflows(deps, repositoryId)).has(workflowPath))
    throw conflict('workflow_disabled', `The workflow ${workflowPath} is disabled.`);
}
