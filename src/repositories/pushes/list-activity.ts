import { In } from 'typeorm';
import type { Person } from '../../accounts/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Found } from '../find-repository.ts';
import type { RepositoryDeps } from '../deps.ts';
import { firstMovesOf, hasMoved } from './first-moves.ts';
import { pushSchema, pushUpdateSchema } from '../schema/push-schema.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** One ref that a push moved. Ids of zeros mean "no ref". */
export interface ActivityUpdate {
  position: number;
  ref: string;
  oldId: string;
  newId: string;
  /** Whether the ref left commits behind; null if never checked. */
  forced: boolean | null;
  /** Time until which the old tip can be restored, in epoch milliseconds; null if it cannot. */
  restorableUntil: number | null;
}

/** A push that took effect. */
export interface ActivityPush {
  id: string;
  via: PushRow['via'];
  /** `null` for pushes by the server, the command line or a deleted account. */
  person: Person | null;
  /** Title of the deploy key that pushed; null if none did. */
  deployKey: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** The first refs that moved. */
  updates: ActivityUpdate[];
  /** Number of refs that moved. */
  updateCount: number;
}

interface ActivityPage {
  pushes: ActivityPush[];
  /** Value of `after` for the next page; `null` on the last one. */
  next: string | null;
}

/** Period that a page covers, in milliseconds. */
const activityWindowMs = 30 * 86_400_000;
const pageKey = /^(\d{1,16})\.([0-9a-f-]{36})$/;

/**
 * The pushes to a repository in the last thirty days, newest first. Throws `invalid_page` for an `after` that it did
 * not create.
 */
export async function listActivity(
  deps: RepositoryDeps,
  { repository }: Pick<Found, 'repository'>,
  { limit, after }: { limit: number; after?: string | null | undefined },
): Promise<ActivityPage> {
  const now = deps.clock.now();
  const query = deps.db.read
    .createQueryBuilder(pushSchema, 'p')
    .where('p.repository_id = :id AND p.created_at >= :since AND p.settled_at IS NOT NULL', {
      id: repository.id,
      since: now - activityWindowMs,
    })
    .andWhere(hasMoved('p'))
    .orderBy('p.created_at', 'DESC')
    .addOrderBy('p.id', 'DESC')
    .limit(limit + 1);
  if (after) {
    const [, at, id] = pageKey.exec(after) ?? [];
    if (at === undefined) throw invalid('invalid_page', 'This page address is not valid.');
    query.andWhere('(p.created_at, p.id) < (:at, :lastId)', { at: Number(at), lastId: id });
  }
  const rows = await query.getMany();
  const shown = rows.slice(0, limit);
  const people = await deps.accounts.peopleById(shown.flatMap(({ userId }) => userId ?? []));
  const first = await firstMovesOf(deps, shown);
  const pushes = await Promise.all(
    shown.map(async (row): Promise<ActivityPush> => {
      const { moves, count } = first.get(row.id)!;
      const updates = await deps.db.read.find(pushUpdateSchema, {
        where: { pushId: row.id, position: In(moves.map(([position]) => position)) },
        order: { position: 'ASC' },
      });
      return {
        id: row.id,
        via: row.via,
        person: row.userId === null ? null : (people.get(row.userId) ?? null),
        deployKey: row.deployKey,
        at: row.createdAt,
        updates: updates.map(({ position, ref, oldId, newId, forced, keptUntil }) => ({
          position,
          ref,
          oldId,
          newId,
          forced,
          restorableUntil: keptUntil !== null && keptUntil > now ? keptUntil : null,
        })),
        updateCount: count,
      };
    }),
  );
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { pushes, next: last === undefined ? null : `${last.createdAt}.${last.id}` };
}
