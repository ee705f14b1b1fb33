import type { TaskViewer } from '../../access/index.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { CiDeps } from '../deps.ts';
import type { InstanceKey } from '../../sealing/index.ts';
import type { Permissions } from '../workflows/workflow.ts';
import { taskSchema } from '../schema/task-schema.ts';

const shape = /^[0-9a-f]{40}$/;

/**
 * The token of a task: 40 hex digits derived from the task's id, so that a repeated call gets the same one and nothing
 * has to be stored.
 */
export function taskToken(key: InstanceKey, taskId: number): string {
  return key.digest('task token', String(taskId)).slice(0, 40);
}

/** The hash by which the database finds a task; it reveals nothing about the token without the key. */
export function hashTaskToken(key: InstanceKey, token: string): string {
  return key.digest('task token hash', token);
}

/**
 * The viewer of a task token, while the task runs or is being cancelled. Null for everything else, so that other kinds
 * of tokens can be tried.
 */
export async function viewerOfTaskToken(
  { db, key, runs }: Pick<CiDeps, 'db' | 'key' | 'runs'>,
  token: string,
): Promise<TaskViewer | null> {
  if (!shape.test(token)) return null;
  const task = await db.read.findOneBy(taskSchema, { tokenHash: hashTaskToken(key, token) });
  if (task === null || (task.status !== 'running' && task.status !== 'cancelling')) return null;
  const job = await db.read.findOneBy(jobSchema, { id: task.jobId });
  const run = job === null ? null : await db.read.findOneBy(runSchema, { id: job.runId });
  if (job === null || run === null) return null;
  const { parsed } = await runs.load(run.id);
  // Permissions that an unreadable file may have removed are not granted.
  if (!parsed.ok) return null;
  const permissions = parsed.workflow.jobs.get(job.jobKey)?.permissions ?? parsed.workflow.permissions;
  const scope = scopeOf(permissions, run.isTrusted);
  return scope === null ? null : { kind: 'task', taskId: task.id, repositoryId: run.repositoryId, scope };
}

/** The default permission is write; a run that is not trusted only ever reads. */
function scopeOf(permissions: Permissions, isTrusted: boolean): TaskViewer['scope'] | null {
  if (permissions === 'none') return null;
  return isTrusted ? (permissions ?? 'write') : 'read';
}
