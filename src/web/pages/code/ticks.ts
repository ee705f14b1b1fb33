import { rely } from '../../kept-pages/relied.ts';
import type { Relied } from '../../kept-pages/relied.ts';
import type { WebRooms } from '../../rooms.ts';
import { statusTicks } from '../../views/ci/status-tick.ts';
import type { StatusTickView } from '../../views/ci/status-tick.ts';
import { repositoryUrl } from '../../views/urls.ts';
import type { RepositoryVisit } from '../../visit.ts';

interface ReadTicks {
  /** What stands beside a commit; null for one that nothing has checked. */
  of(oid: string): StatusTickView | null;
  /** Checks come and end while the refs stay. */
  relied: Relied;
}

/** What the checks say of all commits that a page shows, asked at once. */
export async function readTicks(
  { found }: RepositoryVisit,
  { repositories }: Pick<WebRooms, 'repositories'>,
  oids: readonly string[],
): Promise<ReadTicks> {
  const place = { id: found.repository.id, url: repositoryUrl(found.canonical) };
  const relied = await rely(async () => [...(await statusTicks(repositories, place, oids))]);
  const ticks = new Map(relied.value);
  return { of: (oid) => ticks.get(oid) ?? null, relied };
}
