import { bindDeps, createKeyedMutex } from '../kernel/index.ts';
import type { Viewer } from '../access/index.ts';
import type { LfsCounters, LfsDeps } from './deps.ts';
import { openLfs } from './lfs-context.ts';
import type { LfsContext } from './lfs-context.ts';
import { createLock, listLocks, removeLock, removeLockAt } from './locks/locks.ts';
import type { LockQuery } from './locks/locks.ts';
import { signTransfer, verifyTransfer } from './tokens/transfer-token.ts';
import { planBatch } from './transfers/batch.ts';
import { describeObject, openObject } from './transfers/open-object.ts';
import { receiveObject, verifyObject } from './transfers/receive-object.ts';

/**
 * The public interface of the module: objects of Git LFS, which belong to one repository each, transfer tokens, and
 * locks. Each function documents what it refuses.
 */
export function createLfs(tools: Omit<LfsDeps, 'inTurn' | 'counters'>) {
  const counters: LfsCounters = { uploads: 0, uploadedBytes: 0, downloads: 0, downloadedBytes: 0, refusedUploads: 0 };
  const deps: LfsDeps = { ...tools, inTurn: createKeyedMutex(), counters };
  const bind = bindDeps(deps);
  return {
    open: bind(openLfs),
    batch: bind(planBatch),
    receive: bind(receiveObject),
    verify: bind(verifyObject),
    describe: bind(describeObject),
    read: bind(openObject),
    tokens: { sign: bind(signTransfer), verify: bind(verifyTransfer) },
    locks: {
      create: bind(createLock),
      list: (context: Pick<LfsContext, 'repository'>, query: LockQuery) =>
        listLocks(deps, context.repository.id, query),
      remove: bind(removeLock),
      removeAt: (viewer: Viewer, owner: string, name: string, id: string) =>
        removeLockAt(deps, viewer, { owner, name }, id),
    },
    /** What this process has moved, for the metrics. */
    counters: (): Readonly<LfsCounters> => counters,
  };
}

export type Lfs = ReturnType<typeof createLfs>;
