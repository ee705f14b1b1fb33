import type { Viewer } from '../../access/index.ts';
import type { Commit } from '../../git/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { loadRules } from './load-rules.ts';
import type { SignedObject } from '../ports/verify-port.ts';

/** A commit without a verified signature: `unsigned`, or the reason why its signature does not count. */
export interface Unverified {
  oid: string;
  why: string;
}

/** The client to which the fair queue of verifications attributes a push. */
export const clientOf = (viewer: Viewer): string => ('id' in viewer ? viewer.id : viewer.kind);

/** The first of these commits without a verified signature; null if all have one. */
export async function firstUnverified(
  { verification: { verify } }: Pick<RepositoryDeps, 'verification'>,
  commits: readonly Commit[],
  client: string,
): Promise<Unverified | null> {
  const signed: { oid: string; object: SignedObject }[] = [];
  for (const { oid, signature, committer } of commits) {
    if (signature === null) return { oid, why: 'unsigned' };
    signed.push({ oid, object: { signature, address: committer.email, at: committer.at } });
  }
  const results = await verify?.(
    signed.map(({ object }) => object),
    client,
  );
  for (const [at, { oid }] of signed.entries()) {
    const result = results?.[at] ?? null;
    if (result?.verified !== true) return { oid, why: result?.reason ?? 'unavailable' };
  }
  return null;
}

/** The same for a move whose objects exist; checked only if a rule of the repository requires signed commits. */
export async function unverifiedIn(
  deps: RepositoryDeps,
  viewer: Viewer,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  move: { oldId: string; newId: string },
): Promise<Unverified | null> {
  // A rule added later may still apply in the transaction; its commits then count as unverified.
  const rules = await loadRules(deps.db.read, repository.id);
  if (!rules.some(({ signed }) => signed)) return { oid: move.newId, why: 'unavailable' };
  const commits = await deps.git.refs.gainedCommits(path, move);
  return commits === null ? { oid: move.newId, why: 'too_many' } : firstUnverified(deps, commits, clientOf(viewer));
}
