import { readRefs } from '../refs/refs.ts';

/** A quota of refs that a push may create. */
export interface RefGrant {
  /** Number of granted refs; at most the requested number. */
  refs: number;
  /** Called when the push has created them, or has failed. */
  release(): void;
}

/** Refs of pull requests do not count: opening pull requests is limited separately. */
async function countRefs(path: string): Promise<number> {
  let count = 0;
  for (const name of (await readRefs(path)).keys()) if (!name.startsWith('refs/pull/')) count += 1;
  return count;
}

/** Grants refs to a push, within the limit of the repository. */
export type RefQuota = (path: string, wanted: number) => Promise<RefGrant>;

interface Account {
  /** Refs left after all grants so far. */
  left: Promise<number>;
  /** Granted to running pushes: a count may not include these refs. */
  pending: number;
}

const maxCachedRepositories = 1_000;

/**
 * Limits the refs of each repository. Refs are counted on the first push, and again when the remaining quota is used
 * up, so that few pushes pay for counting. Failed pushes and deletions only cause an earlier count. Grants of one
 * repository are serialised, so that two pushes do not get the same ones.
 */
export function createRefQuota(maxRefs: number): RefQuota {
  /** Least recently used first. Not the kernel's cache: an entry with pending grants is never evicted. */
  const accounts = new Map<string, Account>();

  function forgetSome(): void {
    for (const [path, { pending }] of accounts) {
      if (accounts.size <= maxCachedRepositories) return;
      if (pending === 0) accounts.delete(path);
    }
  }

  return async (path, wanted) => {
    const account = accounts.get(path) ?? { left: Promise.resolve(0), pending: 0 };
    const granting = account.left.then(async (left) => {
      const deps = left < wanted ? Math.max(0, maxRefs - account.pending - (await countRefs(path))) : left;
      const refs = Math.min(wanted, deps);
      account.pending += refs;
      return { refs, left: deps - refs };
    });
    // The caller gets the error; the next request counts again.
    account.left = granting.then(
      ({ left }) => left,
      () => 0,
    );
    accounts.delete(path);
    accounts.set(path, account);
    forgetSome();
    const { refs } = await granting;
    return { refs, release: () => void (account.pending -= refs) };
  };
}
