import { unavailable } from '../../kernel/index.ts';
import type { RefResult, RefUpdate } from '../pushes/push-journal.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isDiskLow } from '../disk-space.ts';
import { ensureWiki, wikiPathOf } from './wiki-repository.ts';

/** For imports: the bare repository of a wiki, by its parent's; creates it if missing. */
export async function openWikiAt(deps: Pick<RepositoryDeps, 'git'>, parentPath: string): Promise<string> {
  const path = wikiPathOf(parentPath);
  await ensureWiki(deps, path);
  return path;
}

/**
 * For imports: moves refs of a wiki whose objects already exist. Announces nothing. A wiki without pages gets the
 * default branch of its source. Throws `disk_low`.
 * @param head short name of that branch; null if unknown
 */
export async function takeWikiRefs(
  { git, settings }: RepositoryDeps,
  path: string,
  moves: readonly RefUpdate[],
  head: string | null,
): Promise<readonly RefResult[]> {
  if (await isDiskLow(path, settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });
  const results = await git.refs.move(path, moves);
  const { oid } = await git.refs.head(path);
  const isThere = results.some(({ ref, ok }) => ok && ref === `refs/heads/${head}`);
  if (oid === null && head !== null && isThere) await git.refs.setHead(path, head);
  return results;
}
