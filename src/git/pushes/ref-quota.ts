import { readRefs } from '../refs/refs.ts';

/** Refs that a push may create. */
export interface RefGrant {
  /** How many; at most the requested number. */
  refs: number;
  /** Called when the push has created them, or never will. */
  release(): void;
}

/** Refs of pull requests do not count: their number is limited by who may open them. */
async function countRefs(path: string): Promise<number> {
  let count = 0;
  for (const name of (await readRefs(path)).keys()) if (!name.startsWith('refs/pull/')) count += 1;
  return count;
}

/** Grants refs to a push, out of those that the repository may still get. */
export type RefQuota = (path: string, wanted: number) => Promise<RefGrant>;

interface Account {
  /** Refs left after the grants so far. */
  left: Promise<number>;
  /** Granted to pushes that still run: a count may not include these refs. */
  pending: number;
}

const maxCachedRepositories = 1_000;

/**
 * Limits the refs of each repository. Refs are counted when nothing is known of a repository, and again when the
 * remaining number is used up: a push pays for counting only now and then. Failed pushes and deletions only make it
 * count sooner. Grants of one repository are serialised, so that two pushes do not get the same ones.
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
    // The caller gets the error; the next one counts again.
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
