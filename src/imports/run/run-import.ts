import { rm } from 'node:fs/promises';
import { Not } from 'typeorm';
import { explainFullDisk, isDomainError, isRefusal } from '../../kernel/index.ts';
import { allowedHostsHint } from '../../outbound/index.ts';
import { SourceBusy } from '../client/source-errors.ts';
import type { ImportDeps } from '../deps.ts';
import { importHostSchema, importSchema, stagedSchema } from '../schema/import-schema.ts';
import type { ImportRow } from '../schema/import-schema.ts';
import { folderOf } from '../from-files/open-files.ts';
import { openRun } from './open-run.ts';
import { RunOver, leaseMs, newProgress, renewMs } from '../context/run-context.ts';
import type { RunContext } from '../context/run-context.ts';
import { runPhases } from './run-phases.ts';

/** Number of failures without progress after which a user must act. */
const mostFailures = 8;
const firstRetryMs = 60_000;
const longestRetryMs = 2 * 3_600_000;
/** Clocks count whole seconds, and a change may be committed slightly after its time. */
const overlapMs = 5_000;
/** Permanent errors, which a retry does not fix. */
const forPeople = new Set([
  'source_refused',
  'source_gone',
  'import_token_closed',
  'import_needs_files',
  'parcel_unreadable',
  'unreadable_import_files',
]);

/** Runs a claimed import until it ends, waits or fails, and stores the result. Never throws. */
export async function runImport(deps: ImportDeps, row: ImportRow, stopping: AbortSignal): Promise<void> {
  const { clock, logger, repositories } = deps;
  let context: RunContext | null = null;
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const heart = setInterval(() => {
    update(deps, row, { lockedUntil: clock.now() + leaseMs }).then(
      (isThere) => isThere || over.abort(new RunOver()),
      (error: unknown) => logger.warn('import.claim_not_renewed', { importId: row.id, error }),
    );
  }, renewMs);
  try {
    const located = (await repositories.locate([row.repositoryId])).get(row.repositoryId);
    // Imports of repositories in the trash rest until the repository is restored.
    if (located === undefined) return await rest(deps, row);
    const run = await openRun(deps, row, located, signal);
    context = run.context;
    if (row.state === 'done') await beginRun(deps, row, context);
    if (row.nextSince === null) {
      // By the clock of the other server, on which the times of its changes are based.
      await context.source.describe();
      row.nextSince = (run.serverTime() ?? clock.now()) - overlapMs;
      await update(deps, row, { nextSince: row.nextSince });
    }
    await runPhases(context);
    await endRun(deps, row, context);
    if (row.files !== null) await rm(folderOf(deps, row.id), { recursive: true, force: true });
    logger.info('import.run_ended', { importId: row.id, run: row.run, requests: row.requests });
  } catch (error) {
    if (stopping.aborted) return void (await update(deps, row, { lockedUntil: 0 }).catch(() => {}));
    const isHere = (await repositories.locate([row.repositoryId])).has(row.repositoryId);
    if (over.signal.aborted || error instanceof RunOver || !isHere) return rest(deps, row);
    const { failures } = row;
    await context?.save({}).catch(() => {});
    if (error instanceof SourceBusy) return waitFor(deps, row, error.until);
    await fail(deps, { ...row, failures }, explainFullDisk(error));
  } finally {
    clearInterval(heart);
  }
}

/** Changes the row unless the import was ended or deleted meanwhile. @returns whether it was changed */
async function update({ db }: ImportDeps, { id }: ImportRow, changes: Partial<ImportRow>): Promise<boolean> {
  const { affected } = await db.write(({ manager, now }) =>
    manager.update(importSchema, { id, state: Not('ended') }, { ...changes, updatedAt: now }),
  );
  return affected !== 0;
}

/** The import of a repository in the trash: it goes on once that was restored. */
async function rest(deps: ImportDeps, row: ImportRow): Promise<void> {
  await update(deps, row, { lockedUntil: 0, nextAt: deps.clock.now() + firstRetryMs * 10 });
}

/** The next run of a watched import. */
async function beginRun(deps: ImportDeps, row: ImportRow, context: RunContext): Promise<void> {
  const changes = {
    state: 'running',
    run: row.run + 1,
    phase: 'describe',
    nextSince: null,
    startedAt: deps.clock.now(),
    progress: JSON.stringify(newProgress),
  } as const;
  Object.assign(row, changes);
  context.progress = structuredClone(newProgress);
  await update(deps, row, changes);
}

async function endRun(deps: ImportDeps, row: ImportRow, { progress }: RunContext): Promise<void> {
  const now = deps.clock.now();
  const isOver = row.isLast;
  await deps.db.write(async ({ manager }) => {
    const current = await manager.findOneBy(importSchema, { id: row.id });
    if (current === null || current.state === 'ended') return;
    // A run was requested while this one was in progress.
    const isAgain = (current.isLast && !row.isLast) || (current.isFull && !row.isFull);
    if (isOver) await manager.delete(stagedSchema, { importId: row.id });
    await manager.update(
      importSchema,
      { id: row.id },
      {
        state: isOver ? 'ended' : 'done',
        phase: 'finish',
        isFull: isAgain,
        isLast: isOver ? false : current.isLast,
        // Unchanged if nothing was imported, so that requests stay identical and a server can respond with 304.
        since: progress.hasChanges || row.since === null ? row.nextSince : row.since,
        watchMs: isOver ? null : current.watchMs,
        secretCiphertext: isOver ? null : current.secretCiphertext,
        nextAt: isAgain ? now : current.watchMs === null || isOver ? Number.MAX_SAFE_INTEGER : now + current.watchMs,
        lockedUntil: 0,
        waitsUntil: null,
        failures: 0,
        lastError: null,
        finishedAt: now,
        updatedAt: now,
      },
    );
  });
  if (!isOver) return;
  const located = (await deps.repositories.locate([row.repositoryId])).get(row.repositoryId);
  if (located !== undefined) await deps.mirrors.bring.forget(located);
}

/** All imports from the host wait until it responds again. */
async function waitFor(deps: ImportDeps, row: ImportRow, until: number): Promise<void> {
  const { host } = new URL(row.api);
  deps.logger.info('import.waits', { importId: row.id, host, until });
  await deps.db.write(async ({ manager, now }) => {
    await manager.upsert(importHostSchema, { host, blockedUntil: until }, ['host']);
    await manager.update(
      importSchema,
      { id: row.id, state: Not('ended') },
      { lockedUntil: 0, nextAt: until, waitsUntil: until, lastError: null, updatedAt: now },
    );
  });
}

async function fail(deps: ImportDeps, row: ImportRow, error: unknown): Promise<void> {
  const reason = isDomainError(error) ? error.reason : 'internal';
  const failures = row.failures + 1;
  const isPaused = forPeople.has(reason) || failures >= mostFailures;
  deps.logger.warn('import.failed', { importId: row.id, phase: row.phase, failures, error });
  const now = deps.clock.now();
  await update(deps, row, {
    state: isPaused ? 'paused' : 'running',
    failures,
    lastError: describeFailure(error, row.url),
    lockedUntil: 0,
    nextAt: now + Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1)),
  });
}

/** Reason why an import failed, for the user who started it. */
export function describeFailure(error: unknown, url: string): string {
  if (!isRefusal(error)) return 'Something went wrong here; the log knows more.';
  const cause = isDomainError(error.cause) ? error.cause : error;
  const isOfAddress = ['https_only', 'address_not_public'].includes(cause.reason) || /not public/.test(error.message);
  if (!isOfAddress) return error.message;
  // The text of `https_only` has no full stop (SPEC §7).
  const sentence = error.message.endsWith('.') ? error.message : `${error.message}.`;
  return `${sentence} ${allowedHostsHint('mirrors.allowed_hosts', url)}`;
}
