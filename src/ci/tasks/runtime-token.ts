import { createHmac, timingSafeEqual } from 'node:crypto';
import type { InstanceKey } from '../../sealing/index.ts';
import type { CiDeps } from '../deps.ts';
import type { JobRow } from '../schema/job-schema.ts';
import type { TaskRow } from '../schema/task-schema.ts';

/** Claims of the runtime token of a task, which grants access to artifacts. */
interface RuntimeClaims {
  taskId: number;
  runId: number;
  jobId: number;
  /** Milliseconds since the epoch. */
  endsAt: number;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encode({ alg: 'HS256', typ: 'JWT' });

const sign = (key: InstanceKey, text: string): Buffer =>
  createHmac('sha256', key.for('runtime token')).update(text).digest();

/** A JWT (RFC 7519), because actions read its claims: `scp` names the run and the job. */
export function runtimeToken(key: InstanceKey, { taskId, runId, jobId, endsAt }: RuntimeClaims): string {
  const body = encode({
    TaskID: taskId,
    RunID: runId,
    JobID: jobId,
    scp: `Actions.Results:${runId}:${jobId}`,
    ac: '[]',
    exp: Math.floor(endsAt / 1000),
  });
  return `${header}.${body}.${sign(key, `${header}.${body}`).toString('base64url')}`;
}

const afterTheEndMs = 3_600_000;

/** The runtime token of a task: deterministic, so that it can be masked in its log. */
export function runtimeTokenOf(
  { key, settings }: Pick<CiDeps, 'key' | 'settings'>,
  task: Pick<TaskRow, 'id' | 'createdAt'>,
  job: Pick<JobRow, 'id' | 'runId'>,
): string {
  return runtimeToken(key, {
    taskId: task.id,
    runId: job.runId,
    jobId: job.id,
    endsAt: task.createdAt + settings.maxTaskMs + afterTheEndMs,
  });
}

/** Verifies a token issued by this server that has not expired; null for any other. */
export function readRuntimeToken(key: InstanceKey, token: string, now: number): RuntimeClaims | null {
  const [head, body, signature, more] = token.split('.');
  if (head !== header || body === undefined || signature === undefined || more !== undefined || token.length > 4096)
    return null;
  const expected = sign(key, `${head}.${body}`);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Record<string, number>;
  const endsAt = claims['exp']! * 1000;
  if (endsAt <= now) return null;
  return { taskId: claims['TaskID']!, runId: claims['RunID']!, jobId: claims['JobID']!, endsAt };
}
