import { invalid, notFound } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { toRunner } from '../runner-model/runner.ts';
import type { Runner } from '../runner-model/runner.ts';
import { readRunnerDeclaration } from '../runner-model/runner-declaration.ts';
import type { RunnerDeclaration } from '../runner-model/runner-declaration.ts';
import { finishedRunners } from './finished-runners.ts';
import { busyRunners } from './runner-tasks.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';

type Deps = Pick<CiDeps, 'db' | 'clock' | 'presence' | 'logger'>;

/**
 * Stores the declaration that a runner sends at every start, replacing the earlier one. A runner that declares no
 * labels keeps those of its registration: `forgejo-runner create-runner-file` writes none, and without labels it would
 * never get a job. Labels chosen by a user stay.
 */
export async function declareRunner(deps: Deps, runner: RunnerRow, declared: RunnerDeclaration): Promise<Runner> {
  const { labels: declaredLabels, ...others } = readRunnerDeclaration(declared);
  const labels = runner.hasChosenLabels ? runner.labels : labelsWithoutChoice({ ...runner, declaredLabels });
  const facts = { ...others, labels, declaredLabels };
  // This write is necessary anyway, so it also shows commands beside the server that the runner is online.
  await deps.db.write(({ manager, now }) =>
    manager.update(runnerSchema, { id: runner.id }, { ...facts, lastSeenAt: now, declaredAt: now }),
  );
  return toRunner({ ...runner, ...facts }, deps.presence, deps.clock.now(), false);
}

const labelsWithoutChoice = ({
  declaredLabels,
  registeredLabels,
}: Pick<RunnerRow, 'declaredLabels' | 'registeredLabels'>): string[] => [
  ...(declaredLabels.length === 0 ? registeredLabels : declaredLabels),
];

/**
 * Returns the runners of one scope, or all, in order of registration, without finished ephemeral ones; optionally one
 * page of the list.
 */
export async function listRunners(
  { db, presence, clock }: Deps,
  scope: CiScope | null,
  { limit, skip = 0 }: { limit?: number; skip?: number } = {},
): Promise<Runner[]> {
  const rows = await db.read.find(runnerSchema, {
    ...(scope === null ? {} : { where: inScope(scope) }),
    order: { id: 'ASC' },
    ...(limit === undefined ? {} : { take: limit, skip }),
  });
  const finished = await finishedRunners(db.read, { isLogComplete: true });
  const busy = await busyRunners(db.read);
  return rows
    .filter(({ id }) => !finished.has(id))
    .map((row) => toRunner(row, presence, clock.now(), busy.has(row.id)));
}

/**
 * Finds a runner of a scope, or of any scope with null. Throws `runner_not_found`, also for runners of other scopes.
 */
export async function findRunner({ db, presence, clock }: Deps, scope: CiScope | null, id: number): Promise<Runner> {
  const row = await db.read.findOneBy(runnerSchema, { id, ...(scope === null ? {} : inScope(scope)) });
  if (row === null) throw runnerNotFound();
  const isBusy = (await busyRunners(db.read)).has(id);
  return toRunner(row, presence, clock.now(), isBusy);
}

/**
 * Sets the labels of a runner, overriding its declarations; null restores the declared ones. They apply to the next
 * job, even if the runner is already waiting at this process. Throws `runner_not_found`, `no_labels`, `invalid_label`.
 */
export async function setRunnerLabels(
  deps: Deps & Pick<CiDeps, 'queue'>,
  scope: CiScope | null,
  id: number,
  chosen: readonly string[] | null,
): Promise<Runner> {
  await findRunner(deps, scope, id);
  const labels = chosen === null ? null : parseLabels(chosen);
  await deps.db.write(async ({ manager }) => {
    const row = await manager.findOneBy(runnerSchema, { id });
    if (row === null) throw runnerNotFound();
    await manager.update(
      runnerSchema,
      { id },
      { hasChosenLabels: labels !== null, labels: labels ?? labelsWithoutChoice(row) },
    );
  });
  const runner = await findRunner(deps, scope, id);
  void deps.queue.relabel(id, [...runner.labels]);
  return runner;
}

const labelShape = /^[^\s,:\p{C}]{1,100}$/u;

/** Throws `no_labels`, `invalid_label`. */
function parseLabels(chosen: readonly string[]): string[] {
  const labels = readRunnerDeclaration({ version: '', capabilities: [], labels: [...chosen] }).labels;
  if (labels.length === 0)
    throw invalid('no_labels', 'A runner without labels gets no jobs. Enter at least one.', { field: 'labels' });
  const wrong = labels.find((label) => !labelShape.test(label));
  if (wrong !== undefined)
    throw invalid(
      'invalid_label',
      `“${wrong}” is not a valid label. A label cannot contain spaces, commas or colons, and can have at most 100 characters.`,
      {
        field: 'labels',
      },
    );
  return labels;
}

/** Disables or enables a runner; a disabled one finishes its task and gets no more. Throws `runner_not_found`. */
export async function setRunnerDisabled(
  deps: Deps,
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

/** Restricts a runner to jobs of trusted runs, or lifts the restriction. Throws `runner_not_found`. */
export async function setRunnerTrustedOnly(
  deps: Deps,
  scope: CiScope | null,
  id: number,
  trustedOnly: boolean,
): Promise<Runner> {
  const runner = await findRunner(deps, scope, id);
  await deps.db.write(({ manager }) => manager.update(runnerSchema, { id }, { trustedOnly }));
  return { ...runner, trustedOnly };
}

/** Removes a runner and revokes its credentials; the sweep ends its tasks. Throws `runner_not_found`. */
export async function removeRunner(deps: Deps, scope: CiScope | null, id: number): Promise<Runner> {
  const runner = await findRunner(deps, scope, id);
  await deps.db.write(({ manager }) => manager.delete(runnerSchema, { id }));
  deps.logger.info('runner.removed', { runner: id, name: runner.name });
  return runner;
}

const runnerNotFound = () => notFound('runner_not_found', 'There is no such runner.');
