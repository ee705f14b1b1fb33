import type { RunningTask } from '../ci/index.ts';
import { notFound, unauthenticated } from '../kernel/index.ts';
import type { Context } from '../http/index.ts';
import { readToken } from '../http/index.ts';
import type { ArtifactDeps } from './deps.ts';

/** Authenticates a task by its runtime token, before the body is read. Throws `bad_runtime_token`. */
export function authenticateTask({ ci }: ArtifactDeps, ctx: Context): Promise<RunningTask> {
  const token = readToken(ctx.req.headers.authorization);
  if (token === null) throw unauthenticated('bad_runtime_token', 'This token is not valid here, or has expired.');
  return ci.artifacts.authoriseTask(token);
}

/** A task can access only its own run; any other run counts as missing. */
export function requireOwnRun({ run }: RunningTask, runId: unknown): void {
  if (runId !== String(run.id)) throw notFound('run_not_found', 'There is no such run.');
}
