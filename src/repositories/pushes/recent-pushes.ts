import { idsIn, selectRaw, selectRows } from '../../db/index.ts';
import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import { rowsInOrder, withOwners } from '../list-repositories.ts';
import type { ListedRepository } from '../list-repositories.ts';
import type { RepositoryDeps } from '../deps.ts';
import { firstMovesOf } from './first-moves.ts';
import { pushSchema } from '../schema/push-schema.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** A push that took effect, for an activity list. */
export interface RecentPush {
  id: string;
  repository: ListedRepository;
  /** `null` for the command line or a deleted account. */
  person: Person | null;
  /** Title of the deploy key that pushed; null if none did. */
  deployKey: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** The first refs that moved, in the order of the push; ids of zeros mean "no ref". */
  updates: { ref: string; oldId: string; newId: string }[];
  /** Number of refs that moved. */
  updateCount: number;
}

/**
 * The latest pushes to the viewer's repositories: their own, their organisations', and those they collaborate on.
 * Newest first. Finds the repositories first, by their last push, so that `limit` bounds the work for any history.
 */
export async function recentPushes(deps: RepositoryDeps, viewer: Viewer, limit: number): Promise<RecentPush[]> {
  if (viewer.kind !== 'person') return [];
  const repositories = await latelyPushedTo(deps, viewer.id, viewer, limit);
  if (repositories.size === 0) return [];
  const found = await newestOfEach(deps, [...repositories.keys()], limit);
  const pushes = found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).slice(0, limit * 2);
  // All its commands may have been rejected, or it was a pull request round.
  return (await withMoves(deps, pushes, repositories)).filter((push) => push.updates.length > 0).slice(0, limit);
}

/** Pushes by their ids; only those to repositories that the viewer can read. */
export async function describePushes(
  deps: RepositoryDeps,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Map<string, RecentPush>> {
  if (ids.length === 0) return new Map();
  const [among, parameters] = idsIn('p.id', ids);
  const pushes = await selectRows(deps.db.read, pushSchema, `SELECT p.* FROM pushes p WHERE ${among}`, parameters);
  const rows = await rowsInOrder(deps, viewer, [...new Set(pushes.map(({ repositoryId }) => repositoryId))]);
  const repositories = new Map((await withOwners(deps, rows)).map((repository) => [repository.id, repository]));
  const known = pushes.filter(({ repositoryId }) => repositories.has(repositoryId));
  return new Map((await withMoves(deps, known, repositories)).map((push) => [push.id, push]));
}

async function withMoves(
  deps: RepositoryDeps,
  pushes: readonly PushRow[],
  repositories: ReadonlyMap<string, ListedRepository>,
): Promise<RecentPush[]> {
  if (pushes.length === 0) return [];
  const moves = await firstMovesOf(deps, pushes);
  const people = await deps.accounts.peopleById(pushes.flatMap(({ userId }) => userId ?? []));
  return pushes.map(
    (push): RecentPush => ({
      id: push.id,
      repository: repositories.get(push.repositoryId)!,
      person: push.userId === null ? null : (people.get(push.userId) ?? null),
      deployKey: push.deployKey,
      at: push.createdAt,
      updates: moves.get(push.id)!.moves.map(([, ref, oldId, newId]) => ({ ref, oldId, newId })),
      updateCount: moves.get(push.id)!.count,
    }),
  );
}

/** The newest settled pushes to each repository, unordered. */
function newestOfEach({ db }: RepositoryDeps, repositoryIds: readonly string[], limit: number): Promise<PushRow[]> {
  const newest = `SELECT n.id FROM pushes n WHERE n.repository_id = r.id AND n.settled_at IS NOT NULL
    ORDER BY n.created_at DESC LIMIT ${Math.trunc(limit)}`;
  const [among, parameters] = idsIn('r.id', repositoryIds);
  const sql = `SELECT p.* FROM repositories r JOIN pushes p ON p.id IN (${newest}) WHERE ${among}`;
  return selectRows(db.read, pushSchema, sql, parameters);
}

async function latelyPushedTo(
  deps: RepositoryDeps,
  personId: string,
  viewer: Viewer,
  limit: number,
): Promise<Map<string, ListedRepository>> {
  const visible = visibleRepositories(viewer, 'x');
  const wanted = `x.deleted_at IS NULL AND x.pushed_at IS NOT NULL AND (${visible.sql})`;
  const latest = `ORDER BY x.pushed_at DESC, x.id DESC LIMIT :limit`;
  // An index has the last pushes of each owner's repositories in order; reads at most as many of each as the list
  // needs. A user collaborates on few repositories of others.
  const found = await selectRaw<{ id: string }>(
    deps.db.read,
    `SELECT r.id AS id, r.pushed_at AS at FROM repositories r WHERE r.id IN
       (SELECT x.id FROM repositories x WHERE x.owner_user_id = :personId AND ${wanted} ${latest})
     UNION SELECT r.id, r.pushed_at FROM organisation_members m CROSS JOIN repositories r WHERE m.user_id = :personId AND r.id IN
       (SELECT x.id FROM repositories x WHERE x.owner_org_id = m.organisation_id AND ${wanted} ${latest})
     UNION SELECT x.id, x.pushed_at FROM collaborators c CROSS JOIN repositories x
       WHERE c.user_id = :personId AND x.id = c.repository_id AND ${wanted}
     UNION SELECT x.id, x.pushed_at FROM team_members tm CROSS JOIN team_repositories tr CROSS JOIN repositories x
       WHERE tm.user_id = :personId AND tr.team_id = tm.team_id AND x.id = tr.repository_id AND ${wanted}
     ORDER BY at DESC, id DESC LIMIT :limit`,
    { ...visible.parameters, personId, limit },
  );
  const rows = await rowsInOrder(
    deps,
    viewer,
    found.map(({ id }) => id),
  );
  return new Map((await withOwners(deps, rows)).map((repository) => [repository.id, repository]));
}
