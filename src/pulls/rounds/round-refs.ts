import type { PullDeps } from '../deps.ts';

/**
 * Keeps the objects of a round as long as the repository, by refs below `refs/hearth/`, which clients never see. Called
 * before its row is written, so that no row refers to objects that maintenance removes. Idempotent; the refs are named
 * by commit, so that concurrent writers never conflict.
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
