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
  /** The main languages, largest first; empty until they were counted. */
  languages: readonly string[];
}

/** `repositories`, and the keys of the adjacent pages. */
export interface RepositoryPage extends Omit<KeysetPage<ListedRepository>, 'rows'> {
  repositories: ListedRepository[];
}

/** Last updated, by name, newest, or largest first. */
type RepositoryOrder = 'updated' | 'name' | 'created' | 'size';

/** At most 100 rows. */
export interface ListOptions extends KeysetPaging {
  /** Repositories of one user or organisation; defaults to all. */
  owner?: Pick<Owner, 'kind' | 'id'>;
  /** Only repositories that the user can see for another reason than being public. */
  isGranted?: boolean;
  /** Only repositories to which a user may push, including archived ones. */
  isWritable?: boolean;
  /** Only names that contain this text, ignoring case. */
  filter?: string;
  /** Only names with this prefix, ignoring case; an index serves it when sorted by name. */
  prefix?: string;
  /** Only repositories with this main language. */
  language?: string;
  /** Only repositories with this topic. */
  topic?: string;
  /** Only repositories in which this team has a role, by its id. */
  teamId?: string;
  /** Only forks of this repository, by its id. */
  forkedFromId?: string;
  /** Defaults to `updated`. */
  sort?: RepositoryOrder;
}

/**
 * Repositories that a viewer can see. Pages are keyed by the last row, so they never overlap while rows change. Throws
 * `invalid_page` for an `after` or `before` that it did not create.
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

/** Limit of the count: the page shows no higher number. */
const mostCounted = 10_000;

/** Number of repositories in a list, up to `mostCounted`. Reads only indexes. */
export async function countListed(
  { db }: RepositoryDeps,
  viewer: Viewer,
  options: Omit<ListOptions, 'limit'>,
): Promise<number> {
  const { column } = orderKeys[options.sort ?? 'updated'];
  const {
    lists: parts,
    startsWithPublic,
    values,
  } = await listsOf({ db }, viewer, options, `${column} AS place, r.id AS id`);
  const countIn = async (sql: string, most: number): Promise<number> => {
    const [row] = await selectRaw<{ total: number }>(db.read, `SELECT count(*) AS total FROM (${sql}) AS counted`, {
      ...values,
      most,
    });
    return Number(row?.total ?? 0);
  };
  // No other list has public repositories, so that these need no order to be counted once.
  const others = startsWithPublic ? parts.slice(1) : parts;
  const open = startsWithPublic ? await countIn(`${parts.slice(0, 1).join('')} LIMIT :most`, mostCounted) : 0;
  const most = mostCounted - open;
  if (most <= 0) return mostCounted;
  // One list with all of them, or only one with any, spares the union of all.
  const filled: { list: string; count: number }[] = [];
  for (const list of others) {
    const count = await countIn(`${list} LIMIT :most`, most);
    if (count === most) return mostCounted;
    if (count > 0) filled.push({ list, count });
  }
  if (filled.length < 2) return open + (filled[0]?.count ?? 0);
  const lists = merged(
    filled.map(({ list }) => list),
    'ASC',
  );
  return open + (await countIn(`${lists} LIMIT :most`, most));
}

/** Merges sorted lists. Each is cut at `:most` before, which would otherwise sort all of it. */
function merged(lists: readonly string[], direction: 'ASC' | 'DESC'): string {
  const sorted = `ORDER BY place ${direction}, id ${direction}`;
  const cut = lists.map((list, at) => `SELECT place, id FROM (${list} ${sorted} LIMIT :most) AS list${at}`);
  return `${cut.join(' UNION ')} ${sorted}`;
}

/** Limit of repositories of a language or a topic to sort; with more, a page fills quickly in any order. */
const fewOfLanguage = 2_000;

/**
 * The ids of a page, in order. Each grant that makes repositories visible is a sorted list in an index; merges only as
 * much of each as the page needs. Reads only indexes.
 */
async function firstIds(
  deps: RepositoryDeps,
  viewer: Viewer,
  options: Omit<ListOptions, 'limit'>,
  { column, parse, ...order }: OrderKey,
  { key, isBackwards, limit, skip }: KeysetRange,
): Promise<string[]> {
  const direction = (order.direction === 'ASC') === isBackwards ? 'DESC' : 'ASC';
  const further: string[] = [];
  const values: Record<string, unknown> = { limit, skip, most: limit + skip };
  if (key !== null) {
    const [, text = '', id] = /^(.{1,100})\.([0-9a-f-]{36})$/.exec(key) ?? [];
    const value = parse(text);
    if (value === null || id === undefined) throw invalid('invalid_page', 'This page address is not valid.');
    further.push(`(${column}, r.id) ${direction === 'ASC' ? '>' : '<'} (:keyValue, :keyId)`);
    Object.assign(values, { keyValue: value, keyId: id });
  }
  const { lists, ...known } = await listsOf(deps, viewer, options, `${column} AS place, r.id AS id`, further);
  const rows = await selectRaw<{ id: string }>(deps.db.read, `${merged(lists, direction)} LIMIT :limit OFFSET :skip`, {
    ...known.values,
    ...values,
  });
  return rows.map(({ id }) => id);
}

/** One SELECT per reason for which a viewer can see the repositories of a list. @param selected its columns */
async function listsOf(
  { db }: Pick<RepositoryDeps, 'db'>,
  viewer: Viewer,
  { owner, isGranted, isWritable, filter, prefix, language, topic, teamId, forkedFromId }: Omit<ListOptions, 'limit'>,
  selected: string,
  further: readonly string[] = [],
): Promise<{ lists: string[]; startsWithPublic: boolean; values: Record<string, unknown> }> {
  const areGranted = viewer.kind === 'person' && (isGranted || isWritable) === true;
  const { parts, parameters } = areGranted
    ? (isWritable ? writableRepositoryParts : grantedRepositoryParts)(viewer)
    : visibleRepositoryParts(viewer, owner);
  const marks = marksOf(language, topic);
  const [mark] = marks;
  const isRare = mark !== undefined && (await isFew(db, mark));
  const conditions: string[] = [];
  const values: Record<string, unknown> = { ...parameters };
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
  if (teamId !== undefined) {
    conditions.push('r.id IN (SELECT tr.repository_id FROM team_repositories tr WHERE tr.team_id = :teamId)');
    values['teamId'] = teamId;
  }
  if (forkedFromId !== undefined) {
    conditions.push('r.forked_from_id = :forkedFromId');
    values['forkedFromId'] = forkedFromId;
  }
  conditions.push(...further);
  const lists = parts.map(({ from, where }) => {
    // Filters either the few repositories of the language by the policy, or the sorted list by the language.
    const marked = marks.map(({ table, alias }) => `${table} ${alias}`);
    const tables = (
      isRare ? [...marked, ...from.split(' CROSS JOIN ').reverse()] : [...from.split(' CROSS JOIN '), ...marked]
    ).join(' CROSS JOIN ');
    return `SELECT ${selected} FROM ${tables} WHERE ${[where, ...conditions].join(' AND ')}`;
  });
  return { lists, startsWithPublic: !areGranted && viewer.kind !== 'deployKey', values };
}

/** A table of labels by which a list can filter repositories: a language, a topic. */
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

/** A condition evaluated per row found by id, for which the planner uses no index. */
export const eachRow = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END = 1`;

/**
 * The rows of these ids, in the same order. Evaluates the policy again, because another transaction may have committed
 * in between.
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

/** Those of the ids that the viewer can see, in no order. */
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
 * The repository whose UUID begins with an integer of at most 48 bits, the id that Gitea's clients use; null if the
 * viewer cannot see one.
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

/** All repositories, for the command line: sorted by owner and name. */
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

/** Adds owner and languages; omits repositories whose owner has no handle, because they have no URL. */
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
  /** Parses output of `of`; `null` for anything else. */
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
