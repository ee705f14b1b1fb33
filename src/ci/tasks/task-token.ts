import { grantedToTask, taskViewer } from '../../access/index.ts';
import type { TaskCredential, TaskPermissions, TaskViewer } from '../../access/index.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { CiDeps } from '../deps.ts';
import type { InstanceKey } from '../../sealing/index.ts';
import type { LoadedRun } from '../load-run.ts';
import { defaultPermissionsOf } from '../settings/repository-settings.ts';
import { taskSchema } from '../schema/task-schema.ts';

const shape = /^[0-9a-f]{40}$/;

/**
 * Token of a task: 40 hex digits derived from its id, so that a repeated call gets the same token and nothing has to be
 * stored.
 */
export function taskToken(key: InstanceKey, taskId: number): string {
  return key.digest('task token', String(taskId)).slice(0, 40);
}

/** The hash by which the database finds a task; reveals nothing about the token without the key. */
export function hashTaskToken(key: InstanceKey, token: string): string {
  return key.digest('task token hash', token);
}

type TokenDeps = Pick<CiDeps, 'db' | 'key' | 'runs' | 'settings'>;

/**
 * The credential of a task token while the task runs or is being cancelled. Null for any other token, so that other
 * kinds can be tried.
 */
export async function credentialOfTaskToken(deps: TokenDeps, token: string): Promise<TaskCredential | null> {
  if (!shape.test(token)) return null;
  const { db, key } = deps;
  const task = await db.read.findOneBy(taskSchema, { tokenHash: hashTaskToken(key, token) });
  if (task === null || (task.status !== 'running' && task.status !== 'cancelling')) return null;
  const job = await db.read.findOneBy(jobSchema, { id: task.jobId });
  const run = job === null ? null : await db.read.findOneBy(runSchema, { id: job.runId });
  if (job === null || run === null) return null;
  const loaded = await deps.runs.load(run.id);
  const permissions = await permissionsOfJob(deps, loaded, job.jobKey);
  return permissions === null ? null : { taskId: task.id, repositoryId: run.repositoryId, permissions };
}

/** Permissions of the job token; null if the workflow file, which may have removed some, is no longer readable. */
export async function permissionsOfJob(
  deps: Pick<CiDeps, 'db' | 'settings'>,
  { run, parsed }: Pick<LoadedRun, 'run' | 'parsed'>,
  jobKey: string,
): Promise<TaskPermissions | null> {
  if (!parsed.ok) return null;
  const asked = parsed.workflow.jobs.get(jobKey)?.permissions ?? parsed.workflow.permissions;
  const fallback = await defaultPermissionsOf(deps, run.repositoryId);
  return grantedToTask(asked, { fallback, isTrusted: run.isTrusted });
}

/** The viewer of a task token for git, with its access to the contents of the repository. */
export async function viewerOfTaskToken(deps: TokenDeps, token: string): Promise<TaskViewer | null> {
  const credential = await credentialOfTaskToken(deps, token);
  return credential === null ? null : taskViewer(credential, ['contents']);
}
