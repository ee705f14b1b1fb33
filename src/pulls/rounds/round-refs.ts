import type { PullDeps } from '../deps.ts';

/**
 * Keeps the objects of a round as long as the repository, below `refs/hearth/`, which clients never see: before its
 * row is written, so that no row names objects that maintenance removes. Idempotent; named by the commits, so that two
 * writers never disagree.
 */
export async function keepRound(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  { headOid, baseOid }: { headOid: string; baseOid: string },
): Promise<void> {
  const oids = [...new Set([headOid, baseOid])];
  await git.objects.keep(
    path,
    oids.map((oid) => ({ name: `rounds/${oid}`, oid })),
  );
}
