import { In } from 'typeorm';
import type { OrganisationRole } from '../access/index.ts';
import { ageKey, prefixRange, readAgeKey, readCounts, readKeysetPage, selectRows } from '../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../db/index.ts';
import { memberSchema } from './member-schema.ts';
import { toOrganisation } from './organisation.ts';
import type { Organisation } from './organisation.ts';
import { organisationSchema } from './organisation-schema.ts';
import type { OrganisationRow } from './organisation-schema.ts';
import type { OrganisationDeps } from './deps.ts';

export interface ListedOrganisation extends Organisation {
  members: number;
}

/** `organisations` and the keys of the adjacent pages. */
interface OrganisationPage extends Omit<KeysetPage<ListedOrganisation>, 'rows'> {
  organisations: ListedOrganisation[];
}

export interface Membership {
  organisation: Organisation;
  role: OrganisationRole;
}

type OrganisationOrder = 'name' | 'created';

/**
 * All organisations, sorted by name or newest first. They are public, so the list is the same for every viewer. Throws
 * `invalid_page` for an `after` or `before` that it did not create.
 * @param options.prefix only names with this prefix, ignoring case; sorted by name
 */
export async function listOrganisations(
  { db }: OrganisationDeps,
  { sort = 'name', prefix = '', ...paging }: KeysetPaging & { sort?: OrganisationOrder; prefix?: string },
): Promise<OrganisationPage> {
  const query = db.read.createQueryBuilder(organisationSchema, 'o').where('o.id IS NOT NULL');
  const isByName = sort === 'name' || prefix !== '';
  if (prefix !== '') {
    const [from, upTo] = prefixRange(prefix.toLowerCase());
    query.andWhere('lower(o.name) >= :from AND lower(o.name) < :upTo', { from, upTo });
  }
  const { rows, next, previous } = await readKeysetPage<OrganisationRow>(
    paging,
    // Names are ASCII and unique ignoring case, so a name is a page key.
    (row) => (isByName ? row.name.toLowerCase() : ageKey(row)),
    ({ key, isBackwards, limit }) => {
      query.limit(limit);
      if (isByName) {
        if (key !== null) query.andWhere(`lower(o.name) ${isBackwards ? '<' : '>'} :key`, { key: key.toLowerCase() });
        return query.orderBy('lower(o.name)', isBackwards ? 'DESC' : 'ASC').getMany();
      }
      if (key !== null) query.andWhere(`(o.created_at, o.id) ${isBackwards ? '>' : '<'} (:at, :id)`, readAgeKey(key));
      const direction = isBackwards ? 'ASC' : 'DESC';
      return query.orderBy('o.created_at', direction).addOrderBy('o.id', direction).getMany();
    },
  );
  const counts = await countMembers(
    db.read,
    rows.map(({ id }) => id),
  );
  return {
    organisations: rows.map((row) => ({ ...toOrganisation(row), members: counts.get(row.id) ?? 0 })),
    next,
    previous,
  };
}

/** The number of organisations. */
export async function countOrganisations({ db }: OrganisationDeps): Promise<number> {
  return (await readCounts(db.read)).organisations;
}

/** A user's organisations, sorted by name: for the dashboard, the profile and the choice of an owner. */
export async function organisationsOf({ db }: OrganisationDeps, personId: string): Promise<Membership[]> {
  const sql = 'SELECT m.* FROM organisation_members m WHERE m.user_id = :personId';
  const memberships = await selectRows(db.read, memberSchema, sql, { personId });
  const roles = new Map(memberships.map((row) => [row.organisationId, row.role]));
  const rows = roles.size === 0 ? [] : await db.read.findBy(organisationSchema, { id: In([...roles.keys()]) });
  return rows
    .map((row) => ({ organisation: toOrganisation(row), role: roles.get(row.id)! }))
    .sort((a, b) => (a.organisation.name.toLowerCase() < b.organisation.name.toLowerCase() ? -1 : 1));
}

/** The number of members of an organisation: the only public information about them. */
export async function memberCount({ db }: OrganisationDeps, organisationId: string): Promise<number> {
  return db.read.countBy(memberSchema, { organisationId });
}

async function countMembers(read: OrganisationDeps['db']['read'], ids: string[]): Promise<Map<string, number>> {
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
