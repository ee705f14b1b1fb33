import { isDomainError, unauthenticated, unavailable } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { isTokenOf } from './runner-token.ts';

/** Who asks, as the two headers of a runner's call say. */
export interface RunnerCredentials {
  uuid: string;
  token: string;
}

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const tokenShape = /^[0-9a-f]{40}$/;

/** Compared with when there is no such runner, so that both answers cost the same. */
const nobody = { tokenSalt: '', tokenHash: '0'.repeat(64) };

/**
 * Finds the runner that a call comes from and notes that it was heard of.
 * Refuses `unregistered_runner`, the same for every cause: today's runners end
 * themselves at that word. So a fault of ours is `runner_check_failed`, which they
 * wait out.
 */
export async function authenticateRunner(
  { db, presence }: Pick<CiDeps, 'db' | 'presence'>,
  { uuid, token }: RunnerCredentials,
  { isActive }: { isActive: boolean },
): Promise<RunnerRow> {
  const runner = uuidShape.test(uuid) ? await find(db, uuid) : null;
  const isRight = isTokenOf(runner ?? nobody, tokenShape.test(token) ? token : '');
  if (runner === null || !isRight) throw unregistered();
  presence.record(runner.id, isActive);
  return runner;
}

export const unregistered = () => unauthenticated('unregistered_runner', 'unregistered runner');

function find(db: CiDeps['db'], uuid: string): Promise<RunnerRow | null> {
  return db.read.findOneBy(runnerSchema, { uuid }).catch((cause: unknown) => {
    if (isDomainError(cause)) throw cause;
    throw unavailable('runner_check_failed', 'The server cannot look at its runners right now.', { cause });
  });
}
