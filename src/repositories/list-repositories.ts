import { localAdministrator, visibleRepositories, visibleRepositoryParts } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { contains, idsIn, prefixRange, readCounts, readKeysetPage } from '../db/index.ts';
import type { KeysetPage, KeysetPaging } from '../db/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Owner } from '../owners/index.ts';
import { ownerIdOf } from './find-repository.ts';
import { languagesOf } from './languages/list-languages.ts';
import { isRepositoryName } from './repository-name.ts';
import type { RepositoryDeps } from './deps.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';

export interface ListedRepository extends Repository {
  owner: Owner;
  /** What it is mainly written in, most first; empty while nobody has counted. */
  languages: readonly string[];
}

/** `repositories` and where the pages beside it begin. */
export interface RepositoryPage extends Omit<KeysetPage<ListedRepository>, 'rows'> {
  repositories: ListedRepository[];
}

/** Last changed first, by name, the newest first, or the largest first. */
export type RepositoryOrder = 'updated' | 'name' | 'created' | 'size';

/** At most 100 rows. */
export interface ListOptions extends KeysetPaging {
  /** A person's or an organisation's; left out, everybody's. */
  owner?: Pick<Owner, 'kind' | 'id'>;
  /** Only names that contain this, without regard to case. */
  filter?: string;
  /** Only names that begin with this, without regard to case; by name, an index serves it. */
  prefix?: string;
  /** Only those that are mainly written in this, by its name. */
  language?: string;
  /** `updated` when left out. */
  sort?: RepositoryOrder;
}

/**
 * The repositories that a viewer may see.
 * Paging is by the last row's key, so pages never overlap while rows change.
 * Refuses `invalid_page` for an `after` or `before` that it did not make.
 */
export async function listRepositories(
  deps: RepositoryDeps,
  viewer: Viewer,
  options: ListOptions,
): Promise<RepositoryPage> {
  const key = orderKeys[options.sort ?? 'updated'];
  const { rows, next, previous } = await readKeysetPage<Repository>(
    options,
    (row) => `${key.of(row)}.${row.id}`,
    async (range) => rowsInOrder(deps, viewer, await firstIds(deps, viewer, options, key, range)),
  );
  return { repositories: await withOwners(deps, rows), next, previous };
}

/** How many repositories of a language are sorted, at most; where there are more, a page is soon full in any order. */
const fewOfLanguage = 2_000;

/**
 * The ids of a page, in order. Each reason for which the viewer sees something is a list of its own, which an index
 * has in order; what the page needs of each is merged. Nothing but the indexes is read.
 */
async function firstIds(
  { db }: RepositoryDeps,
  viewer: Viewer,
  { owner, filter, prefix, language }: ListOptions,
  { column, parse, ...order }: OrderKey,
  { key, isBackwards, limit }: { key: string | null; isBackwards: boolean; limit: number },
): Promise<string[]> {
  const direction = (order.direction === 'ASC') === isBackwards ? 'DESC' : 'ASC';
  const { parts, parameters } = visibleRepositoryParts(viewer, owner);
  const isRare = language !== undefined && (await isFew(db, language));
  const conditions: string[] = [];
  const values: Record<string, unknown> = { ...parameters, limit };
  if (owner !== undefined) {
    conditions.push(owner.kind === 'user' ? 'r.owner_user_id = :ownerId' : 'r.owner_org_id = :ownerId');
    values['ownerId'] = owner.id;
  }
  if (filter !== undefined && filter !== '') {
    conditions.push(contains('r.name_folded', ':filter'));
    values['filter'] = filter.toLowerCase();
  }
  if (prefix !== undefined && prefix !== '') {
    conditions.push('r.name_folded >= :prefix AND r.name_folded < :prefixEnd');
    [values['prefix'], values['prefixEnd']] = prefixRange(prefix.toLowerCase());
  }
  if (language !== undefined) {
    conditions.push('l.repository_id = r.id AND l.language = :language');
    values['language'] = language;
  }
  if (key !== null) {
    const [, text = '', id] = /^(.{1,100})\.([0-9a-f-]{36})$/.exec(key) ?? [];
    const value = parse(text);
    if (value === null || id === undefined)
      throw invalid('invalid_page', 'This page address is not one that was given out.');
    conditions.push(`(${column}, r.id) ${direction === 'ASC' ? '>' : '<'} (:keyValue, :keyId)`);
    Object.assign(values, { keyValue: value, keyId: id });
  }
  const lists = parts.map(({ from, where }) => {
    // From the few that are written in it to the policy, or from the list in its order to the language.
    const tables =
      language === undefined
        ? from
        : isRare
          ? `repository_languages l CROSS JOIN ${from.split(' CROSS JOIN ').reverse().join(' CROSS JOIN ')}`
          : `${from} CROSS JOIN repository_languages l`;
    return `SELECT ${column} AS place, r.id AS id FROM ${tables} WHERE ${[where, ...conditions].join(' AND ')}`;
  });
  const [sql, positional] = db.read.connection.driver.escapeQueryWithParameters(
    `${lists.join(' UNION ')} ORDER BY place ${direction}, id ${direction} LIMIT :limit`,
    values,
  );
  const rows: { id: string }[] = await db.read.query(sql, positional);
  return rows.map(({ id }) => id);
}

async function isFew(db: RepositoryDeps['db'], language: string): Promise<boolean> {
  const [row]: { n: number }[] = await db.read.query(
    'SELECT count(*) AS n FROM (SELECT 1 FROM repository_languages WHERE language = ? LIMIT ?) some',
    [language, fewOfLanguage + 1],
  );
  return Number(row?.n) <= fewOfLanguage;
}

/** A condition that is looked at for each row that an id has found, and for which no index is searched instead. */
export const eachRow = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END = 1`;

/** The rows of these ids, in their order. The policy is asked again: another write may have come between. */
export async function rowsInOrder(
  { db }: Pick<RepositoryDeps, 'db'>,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Repository[]> {
  const visible = visibleRepositories(viewer, 'r');
  const rows = await db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(...idsIn('r.id', ids))
    .andWhere(eachRow(`r.deleted_at IS NULL AND (${visible.sql})`), visible.parameters)
    .getMany();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Those of the ids that the viewer may see, in no order. */
export async function listByIds(
  deps: RepositoryDeps,
  viewer: Viewer,
  ids: Iterable<string>,
): Promise<ListedRepository[]> {
  const visible = visibleRepositories(viewer, 'r');
  const rows = await deps.db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(...idsIn('r.id', new Set(ids)))
    .andWhere(eachRow(visible.sql), visible.parameters)
    .getMany();
  return withOwners(deps, rows);
}

/** How many there are outside the trash, and how much room they take. */
export async function countRepositories({ db }: RepositoryDeps): Promise<{ count: number; bytes: number }> {
  const kept = await readCounts(db.read);
  return { count: kept.repositories, bytes: kept.repository_bytes };
}

/** Every repository, for the command line: sorted by owner and name. */
export async function listAllRepositories(deps: RepositoryDeps): Promise<ListedRepository[]> {
  const visible = visibleRepositories(localAdministrator, 'r');
  const rows = await deps.db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(visible.sql, visible.parameters)
    .andWhere('r.deleted_at IS NULL')
    .getMany();
  const listed = await withOwners(deps, rows);
  return listed.sort(
    (a, b) => a.owner.handle.localeCompare(b.owner.handle, 'en') || a.nameFolded.localeCompare(b.nameFolded, 'en'),
  );
}

/** Adds who owns each and what it is written in; a repository of somebody without a handle is nowhere to be linked, so it is left out. */
export async function withOwners(
  deps: Pick<RepositoryDeps, 'db' | 'owners'>,
  rows: Repository[],
): Promise<ListedRepository[]> {
  const [owners, languages] = await Promise.all([
    deps.owners.ownersById(rows.map(ownerIdOf)),
    languagesOf(
      deps,
      rows.map(({ id }) => id),
    ),
  ]);
  return rows.flatMap((row) => {
    const owner = owners.get(ownerIdOf(row));
    return owner === undefined ? [] : [{ ...row, owner, languages: languages.get(row.id) ?? [] }];
  });
}

interface OrderKey {
  column: string;
  direction: 'ASC' | 'DESC';
  of(row: Repository): string | number;
  /** Reads back what `of` wrote; `null` for anything else. */
  parse(text: string): string | number | null;
}

const parseNumber = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

const orderKeys: Record<RepositoryOrder, OrderKey> = {
  updated: { column: 'r.updated_at', direction: 'DESC', of: (row) => row.updatedAt, parse: parseNumber },
  size: { column: 'r.size_bytes', direction: 'DESC', of: (row) => row.sizeBytes, parse: parseNumber },
  created: { column: 'r.created_at', direction: 'DESC', of: (row) => row.createdAt, parse: parseNumber },
  name: {
    column: 'r.name_folded',
    direction: 'ASC',
    of: (row) => row.nameFolded,
    parse: (text) => (isRepositoryName(text) ? text : null),
  },
};
