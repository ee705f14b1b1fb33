import { personIdOf, scopeAllows, visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { readKeysetPage } from '../../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../../db/index.ts';
import { forbidden, invalid, unauthenticated } from '../../kernel/index.ts';
import type { RepositoryAddress } from '../../repositories/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { watchCountSchema, watchLevels, watchSchema } from '../schema/watch-schema.ts';
import type { WatchLevel, WatchRow } from '../schema/watch-schema.ts';

/** Level of users who have not chosen one. */
const defaultLevel: WatchLevel = 'participating';

/** The viewer's watch level for a repository, and the number of users who watch everything. */
export interface Watching {
  level: WatchLevel;
  /** Time of the viewer's choice; null for the default. */
  since: number | null;
  watching: number;
}

/** For the header of a repository page; the caller has checked read access. Null without an account. */
export async function watchingOf(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  repositoryId: string,
): Promise<Watching | null> {
  const userId = personIdOf(viewer);
  if (userId === null) return null;
  const [[row], [count]] = await Promise.all([
    db.lookup(watchSchema, { userId, repositoryId }),
    db.lookup(watchCountSchema, { repositoryId }),
  ]);
  return { level: row?.level ?? defaultLevel, since: row?.createdAt ?? null, watching: count?.watching ?? 0 };
}

/**
 * Sets the viewer's watch level for a repository that they can read; null restores the default. Throws
 * `sign_in_required`, `insufficient_scope`, `invalid_watch_level`, `repository_not_found`.
 */
export async function setWatching(
  deps: Pick<NotificationDeps, 'db' | 'repositories'>,
  viewer: Viewer,
  { owner, name }: RepositoryAddress,
  level: WatchLevel | null,
): Promise<void> {
  const userId = personIdOf(viewer);
  if (userId === null) throw unauthenticated('sign_in_required', 'Sign in to watch repositories.');
  if (!scopeAllows(viewer, 'write')) throw forbidden('insufficient_scope', 'This token is read-only.');
  if (level !== null && !watchLevels.includes(level))
    throw invalid('invalid_watch_level', 'Choose one of the listed watch levels.', { field: 'level' });
  const { id: repositoryId } = (await deps.repositories.find(viewer, owner, name)).repository;
  await deps.db.write(async ({ manager, now }) => {
    if (level === null) return void (await manager.delete(watchSchema, { userId, repositoryId }));
    await manager.upsert(watchSchema, { userId, repositoryId, level, createdAt: now }, ['userId', 'repositoryId']);
  });
}

/** Repositories for which the viewer has chosen a level, latest choice first. Throws `invalid_page`. */
export async function listWatches(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  paging: KeysetPaging,
): Promise<KeysetPage<WatchRow>> {
  const userId = personIdOf(viewer);
  const visible = visibleRepositories(viewer, 'r');
  return readKeysetPage(
    paging,
    (row: WatchRow) => `${row.createdAt}.${row.repositoryId}`,
    async ({ key, isBackwards, limit, skip }) => {
      if (userId === null) return [];
      const query = db.read
        .createQueryBuilder(watchSchema, 'w')
        .innerJoin('repositories', 'r', 'r.id = w.repository_id')
        .where('w.user_id = :userId', { userId })
        .andWhere(visible.sql, visible.parameters);
      if (key !== null) {
        const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(key) ?? [];
        if (at === undefined) throw invalid('invalid_page', 'This page address is not valid.');
        query.andWhere(`(w.created_at, w.repository_id) ${isBackwards ? '>' : '<'} (:at, :id)`, { at: Number(at), id });
      }
      const order = isBackwards ? 'ASC' : 'DESC';
      return query
        .orderBy('w.created_at', order)
        .addOrderBy('w.repository_id', order)
        .limit(limit)
        .offset(skip)
        .getMany();
    },
  );
}

/**
 * UUIDs of users who watch everything, for readers of the repository. @param after the last user of the previous page
 */
export async function listWatchers(
  { db }: Pick<NotificationDeps, 'db'>,
  repositoryId: string,
  { after = '', limit }: { after?: string; limit: number },
): Promise<string[]> {
  const rows = await db.read
    .createQueryBuilder(watchSchema, 'w')
    .where("w.repository_id = :repositoryId AND w.level = 'everything' AND w.user_id > :after", { repositoryId, after })
    .orderBy('w.user_id')
    .limit(limit)
    .getMany();
  return rows.map(({ userId }) => userId);
}

/** Number of users who watch everything: one row of the row cache. For readers of the repository. */
export async function watchersOf({ db }: Pick<NotificationDeps, 'db'>, repositoryId: string): Promise<number> {
  return (await db.lookup(watchCountSchema, { repositoryId }))[0]?.watching ?? 0;
}
