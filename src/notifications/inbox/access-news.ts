import { personIdOf, visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { AccessPlace, SecurityListener } from '../../accounts/index.ts';
import { selectRaw } from '../../db/index.ts';
import type { NotificationDeps } from '../deps.ts';
import { accessNewsSchema } from '../schema/access-news-schema.ts';
import { writerOf } from './change-notifications.ts';

/** Rows shown at once in the inbox; the others follow when these are read. */
const shownAtOnce = 50;

/** Unread news of access given by another user. */
export interface AccessNews {
  id: number;
  place: AccessPlace;
  /** Null for a team, whose repositories have their own roles. */
  role: string | null;
  /** Username; null for an administrator at the command line and for deleted accounts. */
  by: string | null;
  /** Milliseconds since the epoch. */
  at: number;
}

/** For `accounts.onSecurityEvent`: one row per user and place, new again when access is given again. */
export const onAccessGiven: SecurityListener = async ({ manager, now }, { personId, event }) => {
  if (event.kind !== 'access_given') return;
  const { place, role, by } = event;
  await manager.query(
    `INSERT INTO access_news (user_id, place, repository_id, organisation_id, team_id, role, actor_id, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (user_id, place) DO UPDATE SET
        role = excluded.role, actor_id = excluded.actor_id, created_at = excluded.created_at, read_at = NULL`,
    [
      personId,
      `${place.kind}:${place.id}`,
      place.kind === 'repository' ? place.id : null,
      place.kind === 'organisation' ? place.id : null,
      place.kind === 'team' ? place.id : null,
      role,
      by?.id ?? null,
      now,
    ],
  );
};

interface NewsRow {
  id: number;
  repository_id: string | null;
  organisation_id: string | null;
  team_id: string | null;
  organisation: string | null;
  team: string | null;
  role: string | null;
  actor_id: string | null;
  created_at: number;
}

/**
 * The viewer's unread news, latest first, at most 50; omits places that they can no longer see. Skips the query if the
 * row cache shows that there are none.
 */
export async function listAccessNews(
  deps: Pick<NotificationDeps, 'db' | 'accounts' | 'repositories'>,
  viewer: Viewer,
): Promise<AccessNews[]> {
  const personId = personIdOf(viewer);
  if (personId === null || viewer.kind !== 'person') return [];
  if ((await deps.db.lookup(accessNewsSchema, { userId: personId, readAt: null })).length === 0) return [];
  const visible = visibleRepositories(viewer, 'r');
  const rows = await selectRaw<NewsRow>(
    deps.db.read,
    `SELECT n.id, n.repository_id, n.organisation_id, n.team_id, o.name AS organisation, t.name AS team,
        n.role, n.actor_id, n.created_at
      FROM access_news n
      LEFT JOIN repositories r ON r.id = n.repository_id
      LEFT JOIN teams t ON t.id = n.team_id
      LEFT JOIN organisations o ON o.id = COALESCE(n.organisation_id, t.organisation_id)
      WHERE n.user_id = :personId AND n.read_at IS NULL AND CASE
        WHEN n.repository_id IS NOT NULL THEN CASE WHEN ${visible.sql} THEN 1 ELSE 0 END
        WHEN n.team_id IS NOT NULL THEN (SELECT count(*) FROM team_members m WHERE m.team_id = n.team_id AND m.user_id = n.user_id)
        ELSE (SELECT count(*) FROM organisation_members m WHERE m.organisation_id = n.organisation_id AND m.user_id = n.user_id)
        END = 1
      ORDER BY n.created_at DESC, n.id DESC LIMIT :limit`,
    { personId, limit: shownAtOnce, ...visible.parameters },
  );
  const [places, people] = await Promise.all([
    deps.repositories.locate(rows.flatMap(({ repository_id }) => repository_id ?? [])),
    deps.accounts.peopleById(rows.flatMap(({ actor_id }) => actor_id ?? [])),
  ]);
  return rows.flatMap((row): AccessNews[] => {
    const { id, role, actor_id, created_at } = row;
    const located = places.get(row.repository_id ?? '');
    const place: AccessPlace | null =
      located !== undefined
        ? { kind: 'repository', id: located.repository.id, owner: located.owner.handle, name: located.repository.name }
        : row.team_id !== null && row.team !== null && row.organisation !== null
          ? { kind: 'team', id: row.team_id, organisation: row.organisation, name: row.team }
          : row.organisation_id !== null && row.organisation !== null
            ? { kind: 'organisation', id: row.organisation_id, name: row.organisation }
            : null;
    const by = actor_id === null ? null : (people.get(actor_id)?.username ?? null);
    return place === null ? [] : [{ id: Number(id), place, role, by, at: Number(created_at) }];
  });
}

/** Marks news of the viewer as read: one by its id, or all. Throws `sign_in_required`, `insufficient_scope`. */
export async function readAccessNews(
  { db }: Pick<NotificationDeps, 'db'>,
  viewer: Viewer,
  which: { id: number } | { upTo: number },
): Promise<void> {
  const personId = writerOf(viewer);
  const [condition, value] = 'id' in which ? ['id = ?', which.id] : ['created_at <= ?', which.upTo];
  if (!Number.isSafeInteger(value)) return;
  await db.write(({ manager, now }) =>
    manager.query(`UPDATE access_news SET read_at = ? WHERE user_id = ? AND read_at IS NULL AND ${condition}`, [
      now,
      personId,
      value,
    ]),
  );
}
