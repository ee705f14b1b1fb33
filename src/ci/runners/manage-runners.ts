import { invalid, notFound } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { inScope } from '../scope.ts';
import type { CiScope } from '../scope.ts';
import { toRunner } from './runner.ts';
import type { Runner } from './runner.ts';
import { readRunnerDeclaration } from './runner-declaration.ts';
import type { RunnerDeclaration } from './runner-declaration.ts';
import { finishedRunners } from './finished-runners.ts';
import { busyRunners } from './runner-tasks.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';

type Deps = Pick<CiDeps, 'db' | 'clock' | 'presence' | 'logger'>;

/**
 * What a runner declares at every start; it replaces the earlier declaration. One that declares no labels has those of
 * its registration: `forgejo-runner create-runner-file` writes none, and without any it would never get a job. Labels
 * that were chosen for it stay.
 */
export async function declareRunner(deps: Deps, runner: RunnerRow, declared: RunnerDeclaration): Promise<Runner> {
  const { labels: declaredLabels, ...others } = readRunnerDeclaration(declared);
  const labels = runner.hasChosenLabels ? runner.labels : labelsWithoutChoice({ ...runner, declaredLabels });
  const facts = { ...others, labels, declaredLabels };
  // A write is due anyway, so commands beside the server see at once that it is online.
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
 * The runners of one scope, or all of them, in order of registration, without ephemeral ones that are done; optionally
 * one page of the list.
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

/** One runner of a scope; of any scope with null. Refuses `runner_not_found`, also for those of other scopes. */
export async function findRunner({ db, presence, clock }: Deps, scope: CiScope | null, id: number): Promise<Runner> {
  const row = await db.read.findOneBy(runnerSchema, { id, ...(scope === null ? {} : inScope(scope)) });
  if (row === null) throw runnerNotFound();
  const isBusy = (await busyRunners(db.read)).has(id);
  return toRunner(row, presence, clock.now(), isBusy);
}

/**
 * Chooses the labels of a runner, which no declaration replaces; null takes those that it declares again. The next job
 * is assigned by them, also to a runner that waits at this process. Refuses `runner_not_found`, `no_labels`,
 * `invalid_label`.
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

/** Refuses `no_labels`, `invalid_label`. */
function parseLabels(chosen: readonly string[]): string[] {
  const labels = readRunnerDeclaration({ version: '', capabilities: [], labels: [...chosen] }).labels;
  if (labels.length === 0)
    throw invalid('no_labels', 'A runner without labels gets no jobs. Enter at least one.', { field: 'labels' });
  const wrong = labels.find((label) => !labelShape.test(label));
  if (wrong !== undefined)
    throw invalid(
      'invalid_label',
      `“${wrong}” is not a valid label: it cannot have spaces, commas or colons, and has at most 100 characters.`,
      {
        field: 'labels',
      },
    );
  return labels;
}

/** Disables or enables a runner; a disabled one keeps its task and gets no further one. Refuses `runner_not_found`. */
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

/** Lets a runner take only jobs of trusted runs, or of all. Refuses `runner_not_found`. */
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

/** Removes a runner and revokes its credentials; the sweep ends its tasks. Refuses `runner_not_found`. */
export async function removeRunner(deps: Deps, scope: CiScope | null, id: number): Promise<Runner> {
  const runner = await findRunner(deps, scope, id);
  await deps.db.write(({ manager }) => manager.delete(runnerSchema, { id }));
  deps.logger.info('runner.removed', { runner: id, name: runner.name });
  return runner;
}

const runnerNotFound = () => notFound('runner_not_found', 'There is no such runner.');
