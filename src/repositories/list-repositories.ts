import {
  grantedRepositoryParts,
  localAdministrator,
  visibleRepositories,
  visibleRepositoryParts,
  writableRepositoryParts,
} from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { contains, idsIn, prefixRange, readCounts, readKeysetPage, selectRaw, selectRows } from '../db/index.ts';
import type { KeysetPage, KeysetPaging, KeysetRange } from '../db/index.ts';
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
  /** The main languages, most first; empty until they were counted. */
  languages: readonly string[];
}

/** `repositories`, and the keys of the adjacent pages. */
export interface RepositoryPage extends Omit<KeysetPage<ListedRepository>, 'rows'> {
  repositories: ListedRepository[];
}

/** Last changed first, by name, the newest first, or the largest first. */
type RepositoryOrder = 'updated' | 'name' | 'created' | 'size';

/** At most 100 rows. */
export interface ListOptions extends KeysetPaging {
  /** Repositories of a person or an organisation; defaults to all. */
  owner?: Pick<Owner, 'kind' | 'id'>;
  /** Only those that a person sees for another reason than that they are public. */
  isGranted?: boolean;
  /** Only those to which a person may push, archived ones included. */
  isWritable?: boolean;
  /** Only names that contain this, ignoring case. */
  filter?: string;
  /** Only names that begin with this, ignoring case; sorted by name, an index serves it. */
  prefix?: string;
  /** Only repositories with this main language, by its name. */
  language?: string;
  /** Only repositories with this topic. */
  topic?: string;
  /** Only forks of this repository, by its id. */
  forkedFromId?: string;
  /** Defaults to `updated`. */
  sort?: RepositoryOrder;
}

/**
 * The repositories that a viewer may see. Pages are keyed by the last row, so they never overlap while rows change.
 * Refuses `invalid_page` for an `after` or `before` that it did not create.
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

/** Counting ends here: a page shows no further anyway. */
const mostCounted = 10_000;

/** How many repositories a list has, up to `mostCounted`. Only indexes are read. */
export async function countListed(
  deps: RepositoryDeps,
  viewer: Viewer,
  options: Omit<ListOptions, 'limit'>,
): Promise<number> {
  const key = orderKeys[options.sort ?? 'updated'];
  const range = { key: null, isBackwards: false, limit: mostCounted, skip: 0 };
  return (await firstIds(deps, viewer, { ...options, limit: mostCounted }, key, range)).length;
}

/** Repositories of a language or a topic that are sorted at most; with more, a page is soon full in any order. */
const fewOfLanguage = 2_000;

/**
 * The ids of a page, in order. Each grant by which the viewer sees something is a sorted list in an index; only as
 * much of each as the page needs is merged. Only indexes are read.
 */
async function firstIds(
  { db }: RepositoryDeps,
  viewer: Viewer,
  { owner, isGranted, isWritable, filter, prefix, language, topic, forkedFromId }: ListOptions,
  { column, parse, ...order }: OrderKey,
  { key, isBackwards, limit, skip }: KeysetRange,
): Promise<string[]> {
  const direction = (order.direction === 'ASC') === isBackwards ? 'DESC' : 'ASC';
  const { parts, parameters } =
    viewer.kind === 'person' && (isGranted || isWritable)
      ? (isWritable ? writableRepositoryParts : grantedRepositoryParts)(viewer)
      : visibleRepositoryParts(viewer, owner);
  const marks = marksOf(language, topic);
  const [mark] = marks;
  const isRare = mark !== undefined && (await isFew(db, mark));
  const conditions: string[] = [];
  const values: Record<string, unknown> = { ...parameters, limit, skip };
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
  for (const { alias, column, value } of marks) {
    conditions.push(`${alias}.repository_id = r.id AND ${alias}.${column} = :${column}`);
    values[column] = value;
  }
  if (forkedFromId !== undefined) {
    conditions.push('r.forked_from_id = :forkedFromId');
    values['forkedFromId'] = forkedFromId;
  }
  if (key !== null) {
    const [, text = '', id] = /^(.{1,100})\.([0-9a-f-]{36})$/.exec(key) ?? [];
    const value = parse(text);
    if (value === null || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
    conditions.push(`(${column}, r.id) ${direction === 'ASC' ? '>' : '<'} (:keyValue, :keyId)`);
    Object.assign(values, { keyValue: value, keyId: id });
  }
  const lists = parts.map(({ from, where }) => {
    // Either filters the few repositories of a language by the policy, or the sorted list by the language.
    const marked = marks.map(({ table, alias }) => `${table} ${alias}`);
    const tables = (
      isRare ? [...marked, ...from.split(' CROSS JOIN ').reverse()] : [...from.split(' CROSS JOIN '), ...marked]
    ).join(' CROSS JOIN ');
    return `SELECT ${column} AS place, r.id AS id FROM ${tables} WHERE ${[where, ...conditions].join(' AND ')}`;
  });
  const sql = `${lists.join(' UNION ')} ORDER BY place ${direction}, id ${direction} LIMIT :limit OFFSET :skip`;
  const rows = await selectRaw<{ id: string }>(db.read, sql, values);
  return rows.map(({ id }) => id);
}

/** A table of marks of repositories, of which a list may want one: a language, a topic. */
interface Mark {
  table: 'repository_languages' | 'repository_topics';
  alias: 'l' | 't';
  column: 'language' | 'topic';
  value: string;
}

function marksOf(language: string | undefined, topic: string | undefined): Mark[] {
  const marks: Mark[] = [];
  if (topic !== undefined) marks.push({ table: 'repository_topics', alias: 't', column: 'topic', value: topic });
  if (language !== undefined)
    marks.push({ table: 'repository_languages', alias: 'l', column: 'language', value: language });
  return marks;
}

async function isFew(db: RepositoryDeps['db'], { table, column, value }: Mark): Promise<boolean> {
  const [row]: { n: number }[] = await db.read.query(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE ${column} = ? LIMIT ?) AS limited`,
    [value, fewOfLanguage + 1],
  );
  return Number(row?.n) <= fewOfLanguage;
}

/** A condition that is evaluated per row found by id, and for which the planner searches no index. */
export const eachRow = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END = 1`;

/**
 * The rows of these ids, in their order. The policy is evaluated again, because another write may have come between.
 */
export async function rowsInOrder(
  { db }: Pick<RepositoryDeps, 'db'>,
  viewer: Viewer,
  ids: readonly string[],
): Promise<Repository[]> {
  if (ids.length === 0) return [];
  const visible = visibleRepositories(viewer, 'r');
  const [among, parameters] = idsIn('r.id', ids);
  const rows = await selectRows(
    db.read,
    repositorySchema,
    `SELECT r.* FROM repositories r WHERE ${among} AND ${eachRow(`r.deleted_at IS NULL AND (${visible.sql})`)}`,
    { ...visible.parameters, ...parameters },
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Those of the ids that the viewer may see, unordered. */
export async function listByIds(
  deps: RepositoryDeps,
  viewer: Viewer,
  ids: Iterable<string>,
): Promise<ListedRepository[]> {
  const visible = visibleRepositories(viewer, 'r');
  const [among, parameters] = idsIn('r.id', new Set(ids));
  const rows = await selectRows(
    deps.db.read,
    repositorySchema,
    `SELECT r.* FROM repositories r WHERE ${among} AND ${eachRow(visible.sql)}`,
    { ...visible.parameters, ...parameters },
  );
  return withOwners(deps, rows);
}

/**
 * The repository whose UUID begins with an integer of at most 48 bits, as clients of Gitea name it; null where the
 * viewer may see none.
 */
export async function findByNumber(
  deps: RepositoryDeps,
  viewer: Viewer,
  number: number,
): Promise<ListedRepository | null> {
  if (!Number.isSafeInteger(number) || number < 0 || number >= 2 ** 48) return null;
  const hex = number.toString(16).padStart(12, '0');
  const start = `${hex.slice(0, 8)}-${hex.slice(8)}`;
  const rows: { id: string }[] = await deps.db.read.query(
    'SELECT id FROM repositories WHERE id >= ? AND id < ? ORDER BY id LIMIT 2',
    [`${start}-`, `${start}.`],
  );
  return (
    (
      await listByIds(
        deps,
        viewer,
        rows.map(({ id }) => id),
      )
    )[0] ?? null
  );
}

/** Number of repositories outside the trash, and their total size. */
export async function countRepositories({ db }: RepositoryDeps): Promise<{ count: number; bytes: number }> {
  const counts = await readCounts(db.read);
  return { count: counts.repositories, bytes: counts.repository_bytes };
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

/** Adds owner and languages; a repository whose owner has no handle has no URL, so it is left out. */
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
  /** Parses what `of` wrote; `null` for anything else. */
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
