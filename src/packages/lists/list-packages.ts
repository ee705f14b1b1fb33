import { visiblePackages, visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { selectRaw, selectRows } from '../../db/index.ts';
import type { PackageDeps } from '../deps.ts';
import type { FormatName } from '../formats/format.ts';
import { packageSchema } from '../schema/package-schema.ts';
import type { PackageRow } from '../schema/package-schema.ts';

/** A package can be linked only to a repository of its own owner. */
export const joined = `packages p LEFT JOIN repositories r
  ON r.id = p.repository_id AND COALESCE(r.owner_user_id, r.owner_org_id) = p.owner_id`;

export interface PackageFilter {
  ownerId?: string;
  repositoryId?: string;
  format?: FormatName;
  /** A substring of the name. */
  query?: string;
  limit: number;
  offset?: number;
}

export function conditionsOf(viewer: Viewer, { ownerId, repositoryId, format, query }: Omit<PackageFilter, 'limit'>) {
  const visible = visiblePackages(viewer, 'p', 'r', visibleRepositories(viewer, 'r'));
  const conditions = [
    'p.versions > 0',
    visible.sql,
    ...(ownerId === undefined ? [] : ['p.owner_id = :ownerId']),
    ...(repositoryId === undefined ? [] : ['p.repository_id = :repositoryId AND r.id IS NOT NULL']),
    ...(format === undefined ? [] : ['p.format = :format']),
    ...(query === undefined || query === '' ? [] : ["p.name_key LIKE :query ESCAPE '\\'"]),
  ];
  const escaped = query === undefined ? '' : query.toLowerCase().replace(/[\\%_]/g, (one) => `\\${one}`);
  return {
    where: conditions.join(' AND '),
    parameters: { ...visible.parameters, ownerId, repositoryId, format, query: `%${escaped}%` },
  };
}

/** Packages with a version that the viewer can read, last changed first. */
export async function listPackages(
  { db }: Pick<PackageDeps, 'db'>,
  viewer: Viewer,
  filter: PackageFilter,
): Promise<PackageRow[]> {
  const { where, parameters } = conditionsOf(viewer, filter);
  return selectRows(
    db.read,
    packageSchema,
    `SELECT p.* FROM ${joined} WHERE ${where} ORDER BY p.updated_at DESC, p.id LIMIT :limit OFFSET :offset`,
    { ...parameters, limit: filter.limit, offset: filter.offset ?? 0 },
  );
}

/** Number of such packages. */
export async function countPackages(
  { db }: Pick<PackageDeps, 'db'>,
  viewer: Viewer,
  filter: Omit<PackageFilter, 'limit' | 'offset'>,
): Promise<number> {
  const { where, parameters } = conditionsOf(viewer, filter);
  const [row] = await selectRaw<{ found: number }>(
    db.read,
    `SELECT count(*) AS found FROM ${joined} WHERE ${where}`,
    parameters,
  );
  return Number(row?.found ?? 0);
}

/** Names `owner/name` of one format that the viewer can read, sorted, after a given one. */
export async function catalogue(
  { db }: Pick<PackageDeps, 'db'>,
  viewer: Viewer,
  format: FormatName,
  { after = '', limit }: { after?: string; limit: number },
): Promise<string[]> {
  const { where, parameters } = conditionsOf(viewer, { format });
  const rows = await selectRaw<{ name: string }>(
    db.read,
    `SELECT h.folded || '/' || p.name_key AS name FROM ${joined}
      JOIN handles h ON h.owner_id = p.owner_id AND h.released_at IS NULL
      WHERE ${where} AND h.folded || '/' || p.name_key > :after
      ORDER BY h.folded || '/' || p.name_key LIMIT :limit`,
    { ...parameters, after, limit },
  );
  return rows.map(({ name }) => name);
}

/** Number of packages of a repository, for its tab; counts at most a thousand. Checks no access. */
export async function countOfRepository({ db }: Pick<PackageDeps, 'db'>, repositoryId: string): Promise<number> {
  const [row] = await selectRaw<{ found: number }>(
    db.read,
    `SELECT count(*) AS found FROM (SELECT p.id FROM ${joined}
      WHERE p.repository_id = :repositoryId AND r.id IS NOT NULL AND p.versions > 0 LIMIT 1000) AS listed`,
    { repositoryId },
  );
  return Number(row?.found ?? 0);
}
