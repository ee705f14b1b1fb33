import { In } from 'typeorm';
import type { OrganisationRole } from '../access/index.ts';
import { invalid } from '../kernel/index.ts';
import { memberSchema } from './member-schema.ts';
import { toOrganisation } from './organisation.ts';
import type { Organisation } from './organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationRow } from './organisation-schema.ts';
import type { OrganisationRoom } from './room.ts';

export interface ListedOrganisation extends Organisation {
  members: number;
}

export interface OrganisationPage {
  organisations: ListedOrganisation[];
  /** Give it back as `after` for the next page; `null` on the last one. */
  next: string | null;
}

export interface Membership {
  organisation: Organisation;
  role: OrganisationRole;
}

export type OrganisationOrder = 'name' | 'created';

/**
 * All organisations, by name or the newest first. They are public, so everybody sees the same list.
 * Refuses `invalid_page` for an `after` that it did not make.
 */
export async function listOrganisations(
  { db }: OrganisationRoom,
  options: { sort?: OrganisationOrder; limit: number; after?: string | null },
): Promise<OrganisationPage> {
  const limit = Math.min(Math.max(1, options.limit), 100);
  const { sort = 'name', after } = options;
  const query = db.read.createQueryBuilder(organisationSchema, 'o').limit(limit + 1);
  if (sort === 'name') {
    query.orderBy('lower(o.name)');
    // Names are ASCII and unique without regard to case, so the last one says where to go on.
    if (after != null) query.where('lower(o.name) > :after', { after: after.toLowerCase() });
  } else {
    query.orderBy('o.created_at', 'DESC').addOrderBy('o.id', 'DESC');
    if (after != null) query.where('(o.created_at < :at OR (o.created_at = :at AND o.id < :id))', keyOf(after));
  }
  const rows = await query.getMany();
  const shown = rows.slice(0, limit);
  const counts = await countMembers(
    db.read,
    shown.map(({ id }) => id),
  );
  return {
    organisations: shown.map((row) => ({ ...toOrganisation(row), members: counts.get(row.id) ?? 0 })),
    next: rows.length > limit ? pageKey(shown.at(-1)!, sort) : null,
  };
}

const pageKey = ({ id, name, createdAt }: OrganisationRow, sort: OrganisationOrder): string =>
  sort === 'name' ? name : `${createdAt}.${id}`;

function keyOf(after: string): { at: number; id: string } {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(after) ?? [];
  if (at === undefined || id === undefined)
    throw invalid('invalid_page', 'This page address is not one that was given out.');
  return { at: Number(at), id };
}

/** Where a person belongs, by name: for the dashboard, the profile and the choice of an owner. */
export async function organisationsOf({ db }: OrganisationRoom, personId: string): Promise<Membership[]> {
  const roles = new Map(
    (await db.read.findBy(memberSchema, { userId: personId })).map((row) => [row.organisationId, row.role]),
  );
  const rows = roles.size === 0 ? [] : await db.read.findBy(organisationSchema, { id: In([...roles.keys()]) });
  return rows
    .map((row) => ({ organisation: toOrganisation(row), role: roles.get(row.id)! }))
    .sort((a, b) => (a.organisation.name.toLowerCase() < b.organisation.name.toLowerCase() ? -1 : 1));
}

/** How many people belong to an organisation: the one figure about members that is public. */
export async function memberCount({ db }: OrganisationRoom, organisationId: string): Promise<number> {
  return db.read.countBy(memberSchema, { organisationId });
}

async function countMembers(read: OrganisationRoom['db']['read'], ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows: { id: string; members: number }[] = await read
    .createQueryBuilder(memberSchema, 'm')
    .select('m.organisation_id', 'id')
    .addSelect('count(*)', 'members')
    .where({ organisationId: In(ids) })
    .groupBy('m.organisation_id')
    .getRawMany();
  return new Map(rows.map(({ id, members }) => [id, Number(members)]));
}
