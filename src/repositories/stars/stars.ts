import { isLocalAdministrator, scopeAllows, visibleRepositories } from '../../access/index.ts';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import { idsIn, readKeysetPage, selectRaw, selectRows } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { bindDeps, forbidden, invalid, unauthenticated } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { eachRow, withOwners } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import { starCountSchema, starSchema } from '../schema/star-schema.ts';
import type { StarRow } from '../schema/star-schema.ts';

function whoStars(viewer: Viewer): PersonViewer {
  if (viewer.kind !== 'person' || isLocalAdministrator(viewer))
    throw unauthenticated('sign_in_required', 'Sign in to star repositories.');
  if (!scopeAllows(viewer, 'write')) throw forbidden('insufficient_scope', 'This token is read-only.');
  return viewer;
}

/**
 * Stars a repository that the viewer can read; idempotent. Throws `sign_in_required`, `insufficient_scope`,
 * `repository_not_found`.
 */
async function star(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id: userId } = whoStars(viewer);
  const { id: repositoryId } = (await findRepository(deps, viewer, at)).repository;
  await deps.db.write(async ({ manager, now }) => {
    if (await manager.existsBy(starSchema, { userId, repositoryId })) return;
    await manager.insert(starSchema, { userId, repositoryId, createdAt: now });
  });
}

/** Removes a star; a missing one is not an error. Throws what `star` throws. */
async function unstar(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id: userId } = whoStars(viewer);
  const { id: repositoryId } = (await findRepository(deps, viewer, at)).repository;
  await deps.db.write(({ manager }) => manager.delete(starSchema, { userId, repositoryId }));
}

/** Whether a user has starred a repository. The caller checks read access. */
async function hasStarred({ db }: RepositoryDeps, personId: string, repositoryId: string): Promise<boolean> {
  return (await db.read.findOneBy(starSchema, { userId: personId, repositoryId })) !== null;
}

/** The stars of a repository, for its page header. */
export interface StarState {
  count: number;
  /** Whether the viewer has starred it; null if the viewer cannot. */
  isStarred: boolean | null;
}

/** Both from the row cache. The caller checks read access. */
async function stateOf({ db }: RepositoryDeps, viewer: Viewer, repositoryId: string): Promise<StarState> {
  const [counts, own] = await Promise.all([
    db.lookup(starCountSchema, { repositoryId }),
    viewer.kind !== 'person' || isLocalAdministrator(viewer)
      ? null
      : db.lookup(starSchema, { userId: viewer.id, repositoryId }),
  ]);
  return { count: Number(counts[0]?.stars ?? 0), isStarred: own && own.length > 0 };
}

/** Star counts of repositories; omits those without stars. */
async function countsOf({ db }: RepositoryDeps, ids: Iterable<string>): Promise<Map<string, number>> {
  const [among, parameters] = idsIn('c.repository_id', ids);
  const rows = await selectRaw<{ id: string; stars: number }>(
    db.read,
    `SELECT c.repository_id AS id, c.stars AS stars FROM star_counts c WHERE ${among}`,
    parameters,
  );
  return new Map(rows.map(({ id, stars }) => [id, Number(stars)]));
}

const keyPattern = /^(\d{1,15})\.([0-9a-f-]{36})$/;

/** Parses the time and the id of a page key. Throws `invalid_page`. */
function readKey(key: string): { time: number; id: string } {
  const [, time, id] = keyPattern.exec(key) ?? [];
  if (time === undefined || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { time: Number(time), id };
}

/** Users who starred a repository, earliest first. The caller checks read access. */
function stargazers({ db }: RepositoryDeps, repositoryId: string, paging: KeysetPaging): Promise<KeysetPage<StarRow>> {
  return readKeysetPage(
    paging,
    (row: StarRow) => `${row.createdAt}.${row.userId}`,
    ({ key, isBackwards, limit, skip }) => {
      const from = key === null ? null : readKey(key);
      const beyond = from === null ? '' : `AND (s.created_at, s.user_id) ${isBackwards ? '<' : '>'} (:time, :id)`;
      const order = isBackwards ? 'DESC' : 'ASC';
      return selectRows(
        db.read,
        starSchema,
        `SELECT s.* FROM stars s WHERE s.repository_id = :repositoryId ${beyond}
         ORDER BY s.created_at ${order}, s.user_id ${order} LIMIT :limit OFFSET :skip`,
        { repositoryId, limit, skip, ...from },
      );
    },
  );
}

/** Repositories that a user has starred and the viewer can see, latest star first. */
async function starredBy(
  deps: RepositoryDeps,
  viewer: Viewer,
  personId: string,
  paging: KeysetPaging,
): Promise<{ repositories: ListedRepository[]; next: string | null }> {
  const visible = visibleRepositories(viewer, 'r');
  const { rows, next } = await readKeysetPage(
    paging,
    (row: StarRow) => `${row.createdAt}.${row.repositoryId}`,
    ({ key, isBackwards, limit, skip }) => {
      const from = key === null ? null : readKey(key);
      const beyond = from === null ? '' : `AND (s.created_at, s.repository_id) ${isBackwards ? '>' : '<'} (:time, :id)`;
      const order = isBackwards ? 'ASC' : 'DESC';
      return selectRows(
        deps.db.read,
        starSchema,
        `SELECT s.* FROM stars s CROSS JOIN repositories r
         WHERE s.user_id = :personId AND r.id = s.repository_id AND ${eachRow(visible.sql)} ${beyond}
         ORDER BY s.created_at ${order}, s.repository_id ${order} LIMIT :limit OFFSET :skip`,
        { ...visible.parameters, personId, limit, skip, ...from },
      );
    },
  );
  const [among, parameters] = idsIn(
    'r.id',
    rows.map(({ repositoryId }) => repositoryId),
  );
  const found = await selectRows(
    deps.db.read,
    repositorySchema,
    `SELECT r.* FROM repositories r WHERE ${among} AND ${eachRow(visible.sql)}`,
    { ...visible.parameters, ...parameters },
  );
  const byId = new Map((await withOwners(deps, found)).map((row) => [row.id, row]));
  return { repositories: rows.flatMap(({ repositoryId }) => byId.get(repositoryId) ?? []), next };
}

/** Limit of the count. */
const mostCounted = 10_000;

/** Number of repositories that a user has starred and the viewer can see, at most 10,000. */
async function countStarred({ db }: RepositoryDeps, viewer: Viewer, personId: string): Promise<number> {
  const visible = visibleRepositories(viewer, 'r');
  const [row] = await selectRaw<{ found: number }>(
    db.read,
    `SELECT count(*) AS found FROM (SELECT s.repository_id FROM stars s CROSS JOIN repositories r
      WHERE s.user_id = :personId AND r.id = s.repository_id AND ${eachRow(visible.sql)} LIMIT :mostCounted) AS listed`,
    { ...visible.parameters, personId, mostCounted },
  );
  return Number(row?.found ?? 0);
}

/** Stars of repositories. */
export function createStarService(deps: RepositoryDeps) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    add: bindAt(star),
    remove: bindAt(unstar),
    has: bind(hasStarred),
    stateOf: bind(stateOf),
    countsOf: bind(countsOf),
    stargazers: bind(stargazers),
    starredBy: bind(starredBy),
    countStarred: bind(countStarred),
  };
}
