import type { Config } from '../config/index.ts';
import { bindDeps } from '../kernel/index.ts';
import type { CopyDeps } from './deps.ts';
import { allowanceOf } from './copy-allowance.ts';
import { copiesOfFollows, copyOfRepository, findCopy, listCopies } from './describe-copies.ts';
import { keepCopy } from './keep-copy.ts';
import { dropCopy, makeOwnRepository } from './leave-copies.ts';
import { tendCopies } from './tend-copies.ts';

interface CopiesOptions extends Omit<CopyDeps, 'settings'> {
  config: Pick<Config, 'federation'>;
}

/**
 * Copies of followed repositories of other servers: public, read-only pull mirrors that outlive their origin and never
 * are actors of their own. Each belongs to the person who keeps it and ends some time after the follow.
 */
export function createCopies({ config, ...tools }: CopiesOptions) {
  const deps: CopyDeps = {
    ...tools,
    // Read at each use, since a running server may reload them.
    settings: {
      get maxBytes() {
        return config.federation.copyMaxSizeBytes;
      },
      get userQuotaBytes() {
        return config.federation.copyUserQuotaBytes;
      },
      get totalQuotaBytes() {
        return config.federation.copyTotalQuotaBytes;
      },
      get graceMs() {
        return config.federation.copyGraceMs;
      },
    },
  };
  const bind = bindDeps(deps);
  return {
    keep: bind(keepCopy),
    drop: bind(dropCopy),
    makeOwn: bind(makeOwnRepository),
    list: bind(listCopies),
    find: bind(findCopy),
    ofFollows: bind(copiesOfFollows),
    ofRepository: bind(copyOfRepository),
    /** For `mirrors.copies.limitBy`. */
    allowanceOf: bind(allowanceOf),
    /** For the scheduled task: fetches what was pushed, ends what is followed no longer. */
    tend: bind(tendCopies),
  };
}

export type Copies = ReturnType<typeof createCopies>;
