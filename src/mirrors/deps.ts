import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { Lfs } from '../lfs/index.ts';
import type { Outbound } from '../outbound/index.ts';
import type { Releases } from '../releases/index.ts';
import type { Repositories } from '../repositories/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import type { AllowanceOfCopy } from './copy-limits.ts';

/** Dependencies of the use cases of this module. */
export interface MirrorDeps {
  db: Database;
  repositories: Pick<Repositories, 'create' | 'edit' | 'locate' | 'pushes' | 'wikis'>;
  git: Git;
  lfs: Pick<Lfs, 'mirroring' | 'usage' | 'read'>;
  releases: Pick<Releases, 'foreign'>;
  outbound: Outbound;
  key: InstanceKey;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Running transfers by repository, with git's progress line; removed at their end. */
  progress: Map<string, string>;
  /** Size limit of a kept copy; registered by `limitCopies`. */
  copies: { allowanceOf: AllowanceOfCopy };
  settings: {
    caFile: string | null;
    /** Name of this server, for the comment of a key. */
    name: string;
    /** Folder of temporary repositories, on the file system of the real ones. */
    temporaryFolder: string;
    /** Whether the host of a URL is in `mirrors.allowed_hosts`. */
    isNamed(url: URL): boolean;
  };
}
