import { isDomainError, unavailable } from '../kernel/index.ts';
import type { DomainError } from '../kernel/index.ts';
import type { Located } from '../repositories/index.ts';
import type { MirrorDeps } from './deps.ts';
import { deleteFetchedRefs } from './delete-fetched-refs.ts';

/** The remaining size allowance of one transfer. */
export interface AllowanceLeft {
  /** Bytes that may still arrive; at least one, since 0 means no limit. */
  readonly left: number;
  /** Creates the error `copy_too_large`. */
  tooLarge(): DomainError;
  /** Subtracts received bytes. Throws `copy_too_large`. */
  take(bytes: number): void;
}

/** Throws `copy_too_large` if nothing is left. */
export async function openAllowance(deps: MirrorDeps, { repository, path }: Located): Promise<AllowanceLeft> {
  const { bytes, limit } = await deps.copies.allowanceOf(repository.id);
  const used = await usedBytes(deps, { repository, path });
  let left = bytes - used;
  const tooLarge = () =>
    unavailable('copy_too_large', `The copy would exceed ${limit}. Hearth does not update it until it fits.`);
  if (left <= 0) throw tooLarge();
  return {
    get left() {
      return Math.max(left, 1);
    },
    tooLarge,
    take(more) {
      if (more > left) throw tooLarge();
      left -= more;
    },
  };
}

async function usedBytes({ git, lfs }: MirrorDeps, { repository, path }: Pick<Located, 'repository' | 'path'>) {
  const [disk, objects] = await Promise.all([git.storage.measure(path), lfs.usage(repository.id)]);
  return disk.bytes + objects.bytes;
}

/**
 * Called after a fetch, whose size is only checked at intervals: if it exceeded the limit, throws `copy_too_large` and
 * removes the fetched refs.
 */
export async function refuseOutgrown(deps: MirrorDeps, located: Located, allowance: AllowanceLeft): Promise<void> {
  const { bytes } = await deps.copies.allowanceOf(located.repository.id);
  const used = await usedBytes(deps, located);
  if (used <= bytes) return;
  await deleteFetchedRefs(deps.git, located.path).catch((error: unknown) => {
    if (!isDomainError(error)) throw error;
  });
  throw allowance.tooLarge();
}
