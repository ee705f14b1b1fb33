import { notFound } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { toRunner } from './runner.ts';
import type { Runner } from './runner.ts';
import { readDeclaredFacts } from './runner-facts.ts';
import type { DeclaredFacts } from './runner-facts.ts';
import { finishedRunners } from './finished-runners.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';

type Room = Pick<CiDeps, 'db' | 'clock' | 'presence' | 'logger'>;

/**
 * What a runner says of itself at every start; what it said before is forgotten. One
 * that declares no labels has those of its registration: `forgejo-runner
 * create-runner-file` writes none, and without any it would never get a job.
 */
export async function declareRunner(deps: Room, runner: RunnerRow, said: DeclaredFacts): Promise<Runner> {
  const facts = readDeclaredFacts(said);
  if (facts.labels.length === 0) facts.labels = [...runner.registeredLabels];
  // Since a write is due anyway, commands beside the server see at once that it is there.
  await deps.db.write(({ manager, now }) =>
    manager.update(runnerSchema, { id: runner.id }, { ...facts, lastSeenAt: now }),
  );
  return toRunner({ ...runner, ...facts }, deps.presence, deps.clock.now());
}

/** The runners of one scope, or all of them, in the order in which they came, without ephemeral ones that are done; a part of the list when one is asked for. */
export async function listRunners(
  { db, presence, clock }: Room,
  scope: CiScope | null,
  { limit, skip = 0 }: { limit?: number; skip?: number } = {},
): Promise<Runner[]> {
  const rows = await db.read.find(runnerSchema, {
    ...(scope === null ? {} : { where: inScope(scope) }),
    order: { id: 'ASC' },
    ...(limit === undefined ? {} : { take: limit, skip }),
  });
  const finished = await finishedRunners(db.read, { isLogComplete: true });
  return rows.filter(({ id }) => !finished.has(id)).map((row) => toRunner(row, presence, clock.now()));
}

/**
 * One runner of a scope; of any with null. Refuses `runner_not_found`, also for
 * those of other scopes.
 */
export async function findRunner({ db, presence, clock }: Room, scope: CiScope | null, id: number): Promise<Runner> {
  const row = await db.read.findOneBy(runnerSchema, { id, ...(scope === null ? {} : inScope(scope)) });
  if (row === null) throw runnerNotFound();
  return toRunner(row, presence, clock.now());
}

/** A disabled runner keeps its task and gets no further one. Refuses `runner_not_found`. */
export async function setRunnerDisabled(
  deps: Room,
  scope: CiScope | null,
  id: number,
  isDisabled: boolean,
): Promise<Runner> {
  const runner = await findRunner(deps, scope, id);
  await deps.db.write(({ manager, now }) =>
    manager.update(runnerSchema, { id }, { disabledAt: isDisabled ? now : null }),
  );
  return { ...runner, isDisabled };
}

/** From now on its credentials open nothing; its tasks are given up by the sweep. Refuses `runner_not_found`. */
export async function removeRunner(deps: Room, scope: CiScope | null, id: number): Promise<Runner> {
  const runner = await findRunner(deps, scope, id);
  await deps.db.write(({ manager }) => manager.delete(runnerSchema, { id }));
  deps.logger.info('runner.removed', { runner: id, name: runner.name });
  return runner;
}

const runnerNotFound = () => notFound('runner_not_found', 'There is no such runner.');
