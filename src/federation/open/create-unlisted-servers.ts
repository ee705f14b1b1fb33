import { createOutbound } from '../../outbound/index.ts';
import type { FederationDeps } from '../deps.ts';
import { createRemoteActors } from '../actors/remote-actors.ts';
import { createUnlistedBudget } from './unlisted-budget.ts';
import type { UnlistedServers } from '../unlisted-servers.ts';

const countedForMs = 10_000;

type Deps = Pick<FederationDeps, 'db' | 'localActors' | 'clock' | 'metrics' | 'schemes'>;

export function createUnlistedServers(
  deps: Deps,
  outboundOptions: Parameters<typeof createOutbound>[0],
  budget = createUnlistedBudget(deps.clock),
): UnlistedServers {
  const outbound = createOutbound(outboundOptions);
  let counted = { at: -Infinity, followers: 0 };

  async function count(): Promise<number> {
    const [row]: { n: number }[] = await deps.db.read.query(
      `SELECT sum((SELECT count(*) FROM repository_followers f WHERE f.host = p.host)
           + (SELECT count(*) FROM owner_followers f WHERE f.host = p.host)
           + (SELECT count(*) FROM follow_requests f WHERE f.host = p.host)) AS n
         FROM federation_peers p WHERE p.open_at IS NOT NULL`,
    );
    return Number(row?.n ?? 0);
  }

  return {
    outbound,
    remoteActors: createRemoteActors({ ...deps, outbound }, budget),
    async countFollowers() {
      const now = deps.clock.now();
      if (Math.abs(now - counted.at) >= countedForMs) counted = { at: now, followers: await count() };
      return counted.followers;
    },
    close: () => outbound.close(),
  };
}
