import type { SelectQueryBuilder } from 'typeorm';
import { localAdministrator, visibleRepositories } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Owner } from '../owners/index.ts';
import { ownerIdOf } from './find-repository.ts';
import { languagesOf } from './languages/list-languages.ts';
import { isRepositoryName } from './repository-name.ts';
import type { RepositoryRoom } from './room.ts';
import { repositorySchema } from './repository-schema.ts';
import type { Repository } from './repository-schema.ts';

export interface ListedRepository extends Repository {
  owner: Owner;
  /** What it is mainly written in, most first; empty while nobody has counted. */
  languages: readonly string[];
}

export interface RepositoryPage {
  repositories: ListedRepository[];
  /** Give it back as `after` for the next page; `null` on the last one. */
  next: string | null;
}

/** Last changed first, by name, or the newest first. */
export type RepositoryOrder = 'updated' | 'name' | 'created';

export interface ListOptions {
  /** UUID of a user or an organisation; left out, everybody's. */
  ownerId?: string;
  /** Only names that contain this, without regard to case. */
  filter?: string;
  /** Only those that are mainly written in this, by its name. */
  language?: string;
  /** `updated` when left out. */
  sort?: RepositoryOrder;
  /** At most this many rows; 1 to 100. */
  limit: number;
  after?: string | null;
}

/**
 * The repositories that a viewer may see.
 * Paging is by the last row's key, so pages never overlap while rows change.
 * Refuses `invalid_page` for an `after` that it did not make.
 */
export async function listRepositories(
  room: RepositoryRoom,
  viewer: Viewer,
  options: ListOptions,
): Promise<RepositoryPage> {
  const visible = visibleRepositories(viewer, 'r');
  const limit = Math.min(Math.max(1, Math.trunc(options.limit)), 100);
  const query = room.db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(visible.sql, visible.parameters)
    .andWhere('r.deleted_at IS NULL')
    .limit(limit + 1);
  const key = orderKeys[options.sort ?? 'updated'];
  query.orderBy(key.column, key.direction).addOrderBy('r.id', key.direction);
  if (options.ownerId !== undefined) {
    query.andWhere('(r.owner_user_id = :ownerId OR r.owner_org_id = :ownerId)', { ownerId: options.ownerId });
  }
  if (options.filter !== undefined && options.filter !== '') {
    query.andWhere('instr(r.name_folded, :filter) > 0', { filter: options.filter.toLowerCase() });
  }
  if (options.language !== undefined) {
    query.andWhere(
      'EXISTS (SELECT 1 FROM repository_languages l WHERE l.repository_id = r.id AND l.language = :language)',
      { language: options.language },
    );
  }
  if (options.after != null) continueAfter(query, key, options.after);

  const rows = await query.getMany();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    repositories: await withOwners(room, shown),
    next: rows.length > limit && last !== undefined ? `${key.of(last)}.${last.id}` : null,
  };
}

/** Those of the ids that the viewer may see, in no order. */
export async function listByIds(
  room: RepositoryRoom,
  viewer: Viewer,
  ids: Iterable<string>,
): Promise<ListedRepository[]> {
  const visible = visibleRepositories(viewer, 'r');
  const rows = await room.db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where('r.id IN (SELECT value FROM json_each(:ids))', { ids: JSON.stringify([...new Set(ids)]) })
    .andWhere(`(${visible.sql})`, visible.parameters)
    .getMany();
  return withOwners(room, rows);
}

/** Every repository, for the command line: sorted by owner and name. */
export async function listAllRepositories(room: RepositoryRoom): Promise<ListedRepository[]> {
  const visible = visibleRepositories(localAdministrator, 'r');
  const rows = await room.db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(visible.sql, visible.parameters)
    .andWhere('r.deleted_at IS NULL')
    .getMany();
  const listed = await withOwners(room, rows);
  return listed.sort(
    (a, b) => a.owner.handle.localeCompare(b.owner.handle, 'en') || a.nameFolded.localeCompare(b.nameFolded, 'en'),
  );
}

/** Adds who owns each and what it is written in; a repository of somebody without a handle is nowhere to be linked, so it is left out. */
export async function withOwners(
  room: Pick<RepositoryRoom, 'db' | 'owners'>,
  rows: Repository[],
): Promise<ListedRepository[]> {
  const [owners, languages] = await Promise.all([
    room.owners.ownersById(rows.map(ownerIdOf)),
    languagesOf(
      room,
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

const parseTime = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

const orderKeys: Record<RepositoryOrder, OrderKey> = {
  updated: { column: 'r.updated_at', direction: 'DESC', of: (row) => row.updatedAt, parse: parseTime },
  created: { column: 'r.created_at', direction: 'DESC', of: (row) => row.createdAt, parse: parseTime },
  name: {
    column: 'r.name_folded',
    direction: 'ASC',
    of: (row) => row.nameFolded,
    parse: (text) => (isRepositoryName(text) ? text : null),
  },
};

function continueAfter(
  query: SelectQueryBuilder<Repository>,
  { column, direction, parse }: OrderKey,
  after: string,
): void {
  const [, text = '', id] = /^(.{1,100})\.([0-9a-f-]{36})$/.exec(after) ?? [];
  const value = parse(text);
  if (value === null || id === undefined)
    throw invalid('invalid_page', 'This page address is not one that was given out.');
  const beyond = direction === 'ASC' ? '>' : '<';
  query.andWhere(`(${column} ${beyond} :afterValue OR (${column} = :afterValue AND r.id ${beyond} :afterId))`, {
    afterValue: value,
    afterId: id,
  });
}
