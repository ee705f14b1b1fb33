import { In } from 'typeorm';
import { localAdministrator } from '../access/index.ts';
import { notFound } from '../kernel/index.ts';
import type { Mirror } from '../mirrors/index.ts';
import type { CopyDeps } from './deps.ts';
import { keptCopySchema } from './kept-copy-schema.ts';
import type { KeptCopyRow } from './kept-copy-schema.ts';

/** A kept copy, where it is and how it stands to its origin. */
export interface KeptCopy extends KeptCopyRow {
  /** Its place here; null while it is in the trash. */
  place: { owner: string; name: string } | null;
  /** Of git, by the last measurement. */
  sizeBytes: number;
  /** `waiting`: for its first transfer; `unreachable`: since `since`; `full`: a limit is reached. */
  state: 'waiting' | 'current' | 'unreachable' | 'full' | 'ending' | 'paused';
  /** Since when its origin could not be read; null while it can. */
  since: number | null;
  error: string | null;
  /** The commit of the default branch up to which everything is here; null before the first transfer. */
  completeTo: string | null;
  /** When it was last equal to its origin. */
  lastOkAt: number | null;
  isRunning: boolean;
}

export const noSuchCopy = () => notFound('unknown_copy', 'No copy of this repository is kept.');

/** Adds what is known of them to rows, in their order. */
export async function describeCopies(deps: CopyDeps, rows: readonly KeptCopyRow[]): Promise<KeptCopy[]> {
  const ids = rows.map(({ repositoryId }) => repositoryId);
  const listed = await deps.repositories.listByIds(localAdministrator, ids);
  const repositories = new Map(listed.map((each) => [each.id, each]));
  return Promise.all(
    rows.map(async (row) => {
      const repository = repositories.get(row.repositoryId);
      const mirror = await deps.mirrors.find(row.repositoryId);
      return {
        ...row,
        place: repository === undefined ? null : { owner: repository.owner.handle, name: repository.name },
        sizeBytes: repository?.sizeBytes ?? 0,
        state: stateOf(row, mirror),
        since: mirror?.failingSince ?? null,
        error: mirror?.lastError ?? null,
        completeTo: mirror?.completeTo ?? null,
        lastOkAt: mirror?.lastOkAt ?? null,
        isRunning: mirror?.isRunning ?? false,
      };
    }),
  );
}

function stateOf({ endsAt }: KeptCopyRow, mirror: Mirror | null): KeptCopy['state'] {
  if (endsAt !== null) return 'ending';
  if (mirror === null) return 'waiting';
  // Nothing but a limit ends the tries of a copy.
  if (mirror.isPaused) return mirror.failures > 0 ? 'full' : 'paused';
  if (mirror.failures > 0) return 'unreachable';
  return mirror.lastOkAt === null ? 'waiting' : 'current';
}

/** The copies of one person or of all, the oldest first, in pages. */
export async function listCopies(
  deps: CopyDeps,
  { userId, after, limit }: { userId?: string | undefined; after: string | null; limit: number },
): Promise<{ rows: KeptCopy[]; next: string | null }> {
  const query = deps.db.read.createQueryBuilder(keptCopySchema, 'c');
  if (userId !== undefined) query.where('c.user_id = :userId', { userId });
  const skip = after === null ? 0 : Number(after);
  const found = await query
    .orderBy('c.created_at', 'ASC')
    .addOrderBy('c.repository_id', 'ASC')
    .skip(Number.isSafeInteger(skip) && skip > 0 ? skip : 0)
    .take(limit + 1)
    .getMany();
  const rows = await describeCopies(deps, found.slice(0, limit));
  return { rows, next: found.length > limit ? String(skip + limit) : null };
}

/** The copies of what a person follows, by the id of the actor. */
export async function copiesOfFollows(
  deps: CopyDeps,
  userId: string,
  actorIds: readonly string[],
): Promise<Map<string, KeptCopy>> {
  const rows = await deps.db.read.findBy(keptCopySchema, { userId, actorId: In([...actorIds]) });
  return new Map((await describeCopies(deps, rows)).map((copy) => [copy.actorId, copy]));
}

/** One of a person's copies. Throws `unknown_copy`, for those of others alike. */
export async function findCopy(deps: CopyDeps, userId: string, repositoryId: string): Promise<KeptCopy> {
  const row = await deps.db.read.findOneBy(keptCopySchema, { repositoryId, userId });
  if (row === null) throw noSuchCopy();
  return (await describeCopies(deps, [row]))[0]!;
}

/** Null for a repository that is no copy. */
export async function copyOfRepository(deps: CopyDeps, repositoryId: string): Promise<KeptCopy | null> {
  const row = await deps.db.read.findOneBy(keptCopySchema, { repositoryId });
  return row === null ? null : (await describeCopies(deps, [row]))[0]!;
}
