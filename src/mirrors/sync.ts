import { isDomainError, shortRef, unavailable } from '../kernel/index.ts';
import type { Located } from '../repositories/index.ts';
import { mirrorSchema } from './mirror-schema.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { sendLfsObjects } from './mirror-lfs.ts';
import { deleteFetchedRefs } from './delete-fetched-refs.ts';
import { nextMirrorState } from './mirror-state.ts';
import { pull } from './pull.ts';
import { openRemote, readHostKey, describeFailure } from './remote-credentials.ts';
import { parseRemoteAddress } from './remote-address.ts';
import type { MirrorDeps } from './deps.ts';

/** Time limit of a copy's transfer: a user has chosen its host. */
const copyTransferMs = 3_600_000;

function limitedSignal(signal: AbortSignal): AbortSignal {
  const limit = new AbortController();
  const tooSlow = unavailable('remote_failed', 'The transfer took longer than an hour.');
  setTimeout(() => limit.abort(tooSlow), copyTransferMs).unref();
  return AbortSignal.any([signal, limit.signal]);
}

/** A claim outlives the longest transfer. */
export const leaseMs = 3 * 3_600_000;

/** Runs one claimed mirror and records the result. Never throws. */
export async function sync(deps: MirrorDeps, row: MirrorRow, signal: AbortSignal): Promise<void> {
  const { db, clock, logger, repositories, progress } = deps;
  const { repositoryId } = row;
  let completeTo: string | null = null;
  let isLasting = false;
  let error: string | null = null;
  let offeredHostKey: string | null = null;
  let located: Located | undefined;
  try {
    located = (await repositories.locate([repositoryId])).get(repositoryId);
    // In the trash it is paused, and continues after its restoration.
    if (located !== undefined) await exchange(deps, located, row, row.isCopy ? limitedSignal(signal) : signal);
    if (located !== undefined && row.direction === 'pull') completeTo = (await deps.git.refs.head(located.path)).oid;
  } catch (fault) {
    if (signal.aborted) return;
    error = describeFailure(fault, row.url);
    if (isDomainError(fault) && fault.reason === 'host_key_changed') offeredHostKey = await offered(deps, row);
    isLasting = offeredHostKey !== null || (isDomainError(fault) && fault.reason === 'copy_too_large');
    logger.warn('mirror.failed', { repositoryId, direction: row.direction, error: fault });
  } finally {
    progress.delete(repositoryId);
  }
  const next = {
    ...nextMirrorState(row, error, clock.now(), isLasting),
    ...(completeTo === null ? {} : { completeTo }),
    ...(error === null || offeredHostKey !== null ? { offeredHostKey } : {}),
  };
  await db.write(async ({ manager }) => {
    const now = await manager.findOneBy(mirrorSchema, { repositoryId });
    const isImported = error === null && located !== undefined && now?.intervalMs === null;
    // Changed or requested again meanwhile: runs again soon.
    const again = now !== null && now.nextAt > row.nextAt && error === null ? { nextAt: now.nextAt } : {};
    if (isImported) await manager.delete(mirrorSchema, { repositoryId });
    else await manager.update(mirrorSchema, { repositoryId }, { ...next, ...again });
  });
  if (error === null && located !== undefined && row.intervalMs === null)
    await deleteFetchedRefs(deps.git, located.path).catch((fault: unknown) =>
      logger.warn('mirror.leftovers', { repositoryId, error: fault }),
    );
  if (error === null) logger.info('mirror.synced', { repositoryId, direction: row.direction });
  else if (next.isPaused)
    logger.error('mirror.paused', { repositoryId, direction: row.direction, failures: next.failures });
}

/**
 * The host key that a user must compare before the mirror continues; null if the host does not present it a second
 * time.
 */
async function offered(deps: MirrorDeps, row: MirrorRow): Promise<string | null> {
  const address = parseRemoteAddress(row.url);
  const key = address.kind === 'ssh' ? await readHostKey(deps, address).catch(() => null) : null;
  return key === row.hostKey ? null : key;
}

async function exchange(deps: MirrorDeps, located: Located, row: MirrorRow, signal: AbortSignal): Promise<void> {
  const remote = await openRemote(deps, row);
  if (row.direction === 'pull') {
    await pull(deps, located, row, remote, signal);
    // After the tags that they name.
    if (row.withReleases && !('ssh' in remote)) {
      const { fetchReleases } = await import('./releases/fetch-releases.ts');
      await fetchReleases(deps, located, remote, signal);
    }
    return;
  }
  await sendLfsObjects(deps, located, remote, signal);
  const refused = await deps.git.remotes.push(located.path, remote, {
    prune: row.prune,
    signal,
    progress: (text) => void deps.progress.set(row.repositoryId, text),
  });
  const [first] = refused;
  if (first !== undefined) {
    const name = shortRef(first.ref);
    throw unavailable(
      'remote_refused',
      `The remote refused ${refused.length === 1 ? name : `${name} and ${refused.length - 1} more`}: ${first.reason ?? 'it gave no reason'}`,
    );
  }
}
