import { bindDeps, createKeyedMutex } from '../kernel/index.ts';
import type { LfsCounters, LfsDeps } from './deps.ts';
import { smudgeArchive } from './archives/smudge-archive.ts';
import { checkObjects } from './integrity/check-objects.ts';
import { collectGarbage } from './gc/collect-garbage.ts';
import { removeOrphans } from './gc/remove-files.ts';
import { exportObjects, missingObjects, presentObjects, takesObjects } from './copying/mirror-objects.ts';
import { createObjectLinker } from './copying/link-shared-objects.ts';
import { openLfs } from './lfs-context.ts';
import type { LfsContext } from './lfs-context.ts';
import { createLock, listLocks, removeLock } from './locks/locks.ts';
import type { LockQuery } from './locks/locks.ts';
import { repositoryUsage, switchRepository } from './repository-usage.ts';
import { signTransfer, verifyTransfer } from './tokens/transfer-token.ts';
import { planBatch } from './transfers/batch.ts';
import { describeObject, objectOfPointer, openObject } from './transfers/open-object.ts';
import { warnOfMissingObjects } from './copying/warn-of-missing-objects.ts';
import { receiveObject, storeObject, verifyObject } from './transfers/receive-object.ts';

/**
 * The public interface of the module: Git LFS objects, each of which belongs to one repository, transfer tokens, and
 * locks. Each function documents its errors.
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
    ofPointer: bind(objectOfPointer),
    read: bind(openObject),
    fillArchive: bind(smudgeArchive),
    tokens: { sign: bind(signTransfer), verify: bind(verifyTransfer) },
    locks: {
      create: bind(createLock),
      list: (context: Pick<LfsContext, 'repository'>, query: LockQuery) =>
        listLocks(deps, context.repository.id, query),
      remove: bind(removeLock),
    },
    /** For mirrors, imports and exports, which act for the instance. */
    mirroring: {
      takesObjects: bind(takesObjects),
      missing: bind(missingObjects),
      present: bind(presentObjects),
      store: bind(storeObject),
      export: bind(exportObjects),
    },
    usage: bind(repositoryUsage),
    switchRepository: bind(switchRepository),
    /** For `repositories.forks.copyWith`. */
    copyPort: createObjectLinker(deps),
    /** For `repositories.pushes.addPostReceiveOutput`. */
    remarkOnMissing: bind(warnOfMissingObjects),
    /** For `hearth lfs` and the scheduled task. */
    gc: { scan: bind(collectGarbage), removeOrphans: bind(removeOrphans), check: bind(checkObjects) },
    /** Transfers by this process, for the metrics. */
    counters: (): Readonly<LfsCounters> => counters,
  };
}

export type Lfs = ReturnType<typeof createLfs>;
