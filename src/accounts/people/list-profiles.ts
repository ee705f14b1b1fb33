import { invalid } from '../../kernel/index.ts';
import type { AccountsRoom } from '../room.ts';
import { userSchema } from '../user-schema.ts';
import { toPerson } from './person.ts';
import type { Person } from './person.ts';

export type ProfileOrder = 'name' | 'created';

export interface ProfilePage {
  people: Person[];
  /** Give it back as `after` for the next page; `null` on the last one. */
  next: string | null;
}

/**
 * The people that everybody may see: with a handle (SPEC §2.4) and not shut out.
 * By handle, or the latest to join first. Paging is by the last row's key.
 * Refuses `invalid_page` for an `after` that it did not make.
 */
export async function listProfiles(
  { db }: AccountsRoom,
  options: { sort?: ProfileOrder; limit: number; after?: string | null },
): Promise<ProfilePage> {
  const limit = Math.min(Math.max(1, Math.trunc(options.limit)), 100);
  const query = db.read
    .createQueryBuilder(userSchema, 'u')
    .where('u.username IS NOT NULL AND u.disabled_at IS NULL')
    .limit(limit + 1);
  const { sort = 'name', after } = options;
  if (sort === 'name') {
    query.orderBy('lower(u.username)');
    // Handles are ASCII and unique without regard to case.
    if (after != null) query.andWhere('lower(u.username) > :after', { after: after.toLowerCase() });
  } else {
    query.orderBy('u.created_at', 'DESC').addOrderBy('u.id', 'DESC');
    if (after != null) query.andWhere('(u.created_at < :at OR (u.created_at = :at AND u.id < :id))', keyOf(after));
  }
  const rows = await query.getMany();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    people: rows.slice(0, limit).map(toPerson),
    next: last === undefined ? null : sort === 'name' ? last.username : `${last.createdAt}.${last.id}`,
  };
}

function keyOf(after: string): { at: number; id: string } {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(after) ?? [];
  if (at === undefined || id === undefined)
    throw invalid('invalid_page', 'This page address is not one that was given out.');
  return { at: Number(at), id };
}
