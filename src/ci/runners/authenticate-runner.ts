import { isDomainError, unauthenticated, unavailable } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { isTokenOf } from './runner-token.ts';

/** The two authentication headers of a runner. */
interface RunnerCredentials {
  uuid: string;
  token: string;
}

const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const tokenShape = /^[0-9a-f]{40}$/;

/** Compared if the runner is unknown, so that both cases take the same time. */
const unknownRunner = { tokenSalt: '', tokenHash: '0'.repeat(64) };

/**
 * Finds the runner of a call and records its presence. Throws `unregistered_runner` for every cause: current runners
 * exit on that word. Failures of the server are `runner_check_failed` instead, on which runners retry.
 */
export async function authenticateRunner(
  { db, presence }: Pick<CiDeps, 'db' | 'presence'>,
  { uuid, token }: RunnerCredentials,
  { isActive }: { isActive: boolean },
): Promise<RunnerRow> {
  const runner = uuidShape.test(uuid) ? await find(db, uuid) : null;
  const isRight = isTokenOf(runner ?? unknownRunner, tokenShape.test(token) ? token : '');
  if (runner === null || !isRight) throw unregistered();
  presence.record(runner.id, isActive);
  return runner;
}

export const unregistered = () => unauthenticated('unregistered_runner', 'unregistered runner');

function find(db: CiDeps['db'], uuid: string): Promise<RunnerRow | null> {
  return db.read.findOneBy(runnerSchema, { uuid }).catch((cause: unknown) => {
    if (isDomainError(cause)) throw cause;
    throw unavailable('runner_check_failed', 'The server cannot check the runner at the moment. Try again.', { cause });
  });
}
