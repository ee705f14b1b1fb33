import type { Modules } from '../../app/index.ts';
import type { ListedRepository, Repository } from '../../repositories/index.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

export const fullName = (row: ListedRepository): string => `${row.owner.handle}/${row.name}`;

export const columnsWith = (states: States): Column<ListedRepository>[] => [
  { title: 'OWNER/NAME', cell: fullName, whole: true },
  { title: 'VISIBILITY', cell: (row) => row.visibility.toLowerCase() },
  { title: 'SIZE', cell: (row) => ({ bytes: row.sizeBytes }), align: 'right' },
  { title: 'UPDATED', cell: (row) => never(row.updatedAt) },
  { title: 'STATE', cell: (row) => stateOf(row, states) },
];

/** By repository; computed once per command. */
type States = ReadonlyMap<string, 'mirror' | 'failing'>;

export async function mirrorStates({ mirrors }: Modules): Promise<States> {
  const rows = (await mirrors.list()).filter(({ direction, failures }) => direction === 'pull' || failures > 0);
  return new Map(rows.map(({ repositoryId, failures }) => [repositoryId, failures > 0 ? 'failing' : 'mirror']));
}

export function stateOf(row: Repository, states: States = new Map()): string {
  if (row.deletedAt !== null) return 'deleted';
  return row.archivedAt === null ? (states.get(row.id) ?? 'ok') : 'archived';
}

export function repositoryToJson(row: Repository, owner: string, states?: States): object {
  return {
    id: row.id,
    owner,
    name: row.name,
    description: row.description,
    visibility: row.visibility,
    defaultBranch: row.defaultBranch,
    sizeBytes: row.sizeBytes,
    state: stateOf(row, states),
    createdAt: isoOrNull(row.createdAt),
    updatedAt: isoOrNull(row.updatedAt),
    pushedAt: isoOrNull(row.pushedAt),
    deletedAt: isoOrNull(row.deletedAt),
  };
}

/** The day on which a deleted repository is permanently removed. */
export function goesOn(row: Repository, keepMs: number): string {
  return isoOrNull((row.deletedAt ?? 0) + keepMs)!.slice(0, 10);
}
