import { readRefs } from '../refs/refs.ts';

/** Refs that a push may make. */
export interface RefGrant {
  /** How many; at most as many as it asked for. */
  refs: number;
  /** Called when the push has made them, or never will. */
  release(): void;
}

/** Grants refs to a push, out of those that a repository may still get. */
export type RefQuota = (path: string, wanted: number) => Promise<RefGrant>;

interface Account {
  /** What is left once the grants before are made. */
  left: Promise<number>;
  /** Granted to pushes that still run: a count may not have seen these refs. */
  pending: number;
}

const keptRepositories = 1_000;

/**
 * Bounds the refs of each repository. Refs are counted when nothing is known of a
 * repository, and again when what was left then is used up: a push pays for counting
 * only now and then. Pushes that fail later, and deletions, only make it count sooner.
 * Pushes to one repository are granted refs one after the other, so that two at a time
 * do not get the same ones.
 */
export function createRefQuota(maxRefs: number): RefQuota {
  /** Least recently used first. Not the kernel's cache: an entry with pending grants is never evicted. */
  const accounts = new Map<string, Account>();

  function forgetSome(): void {
    for (const [path, { pending }] of accounts) {
      if (accounts.size <= keptRepositories) return;
      if (pending === 0) accounts.delete(path);
    }
  }

  return async (path, wanted) => {
    const account = accounts.get(path) ?? { left: Promise.resolve(0), pending: 0 };
    const granting = account.left.then(async (left) => {
      const deps = left < wanted ? Math.max(0, maxRefs - account.pending - (await readRefs(path)).size) : left;
      const refs = Math.min(wanted, deps);
      account.pending += refs;
      return { refs, left: deps - refs };
    });
    // Whoever asked hears of the failure; the next one counts anew.
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
