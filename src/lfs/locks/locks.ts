import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { conflict, forbidden, invalid, notFound } from '../../kernel/index.ts';
import type { LfsDeps } from '../deps.ts';
import { refuseInWrite } from '../lfs-context.ts';
import type { LfsContext } from '../lfs-context.ts';
import { lfsLockSchema } from '../schema/lfs-schema.ts';
import type { LfsLockRow } from '../schema/lfs-schema.ts';

/** A lock with the name of its owner; times are epoch milliseconds. */
export interface LfsLock extends LfsLockRow {
  ownerName: string;
}

/** The error for a second lock on a path; contains the first one. */
export class AlreadyLocked extends Error {
  readonly lock: LfsLock;
  constructor(lock: LfsLock) {
    super(`${lock.path} is locked by ${lock.ownerName} already.`);
    this.lock = lock;
  }
}

/** A repository of a game has some thousand files that cannot be merged; locking every file is a mistake. */
const maxLocks = 10_000;
const maxPathBytes = 1_024;
const maxRefBytes = 255;

/**
 * Locks a file for the viewer. Throws `AlreadyLocked`, also for the viewer's own lock, as git-lfs expects;
 * `invalid_lock_path`, `invalid_lock_ref`, `too_many_locks`, and access errors.
 */
export async function createLock(
  deps: LfsDeps,
  viewer: Viewer,
  context: LfsContext,
  input: { path: unknown; ref: unknown },
): Promise<LfsLock> {
  const path = parsePath(input.path);
  const ref = parseRef(input.ref);
  const repositoryId = context.repository.id;
  const ownerId = personIdOf(viewer);
  if (ownerId === null) throw forbidden('locks_are_personal', 'Only users can lock files.');
  const row = await deps.db.write(async (tx) => {
    await refuseInWrite(deps, tx, viewer, context, 'lock');
    const existing = await tx.manager.findOneBy(lfsLockSchema, { repositoryId, path });
    if (existing !== null) return { existing };
    if ((await tx.manager.countBy(lfsLockSchema, { repositoryId })) >= maxLocks)
      throw conflict('too_many_locks', `A repository can have at most ${maxLocks} locks.`);
    const lock = { id: deps.random.uuid(), repositoryId, path, ref, ownerId, lockedAt: tx.now };
    await tx.manager.insert(lfsLockSchema, lock);
    return { lock };
  });
  if (row.existing !== undefined) throw new AlreadyLocked((await named(deps, [row.existing]))[0]!);
  return (await named(deps, [row.lock]))[0]!;
}

/** A file path in git's form. Throws `invalid_lock_path`. */
function parsePath(path: unknown): string {
  const isPath =
    typeof path === 'string' &&
    path !== '' &&
    path.isWellFormed() &&
    Buffer.byteLength(path) <= maxPathBytes &&
    !/[\p{Cc}]/u.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isPath) throw invalid('invalid_lock_path', 'A lock needs the path of a file in the repository.');
  return path;
}

/** Throws `invalid_lock_ref`. */
function parseRef(ref: unknown): string | null {
  if (ref === undefined || ref === null || ref === '') return null;
  if (typeof ref !== 'string' || !ref.isWellFormed() || Buffer.byteLength(ref) > maxRefBytes || /\p{Cc}/u.test(ref))
    throw invalid('invalid_lock_ref', 'The branch name is invalid.');
  return ref;
}

/** Filter of locks in a repository: all, or one by its path or id, in pages. */
export interface LockQuery {
  path?: string | undefined;
  id?: string | undefined;
  /** Cursor from the previous page. */
  cursor?: string | undefined;
  limit?: number | undefined;
}

interface LockPage {
  locks: LfsLock[];
  /** Null on the last page. */
  nextCursor: string | null;
}

const defaultLimit = 100;
const maxLimit = 1_000;

/** Locks sorted by path. Throws `invalid_lock_cursor`. */
export async function listLocks(deps: LfsDeps, repositoryId: string, query: LockQuery): Promise<LockPage> {
  const limit = Math.min(Math.max(query.limit ?? defaultLimit, 1), maxLimit);
  const after = query.cursor === undefined || query.cursor === '' ? '' : readCursor(query.cursor);
  const builder = deps.db.read
    .createQueryBuilder(lfsLockSchema, 'l')
    .where('l.repository_id = :repositoryId AND l.path > :after', { repositoryId, after })
    .orderBy('l.path')
    .limit(limit + 1);
  if (query.path !== undefined) builder.andWhere('l.path = :path', { path: query.path });
  if (query.id !== undefined) builder.andWhere('l.id = :id', { id: query.id });
  const rows = await builder.getMany();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? Buffer.from(last.path).toString('base64url') : null;
  return { locks: await named(deps, page), nextCursor };
}

function readCursor(cursor: string): string {
  const path = Buffer.from(cursor, 'base64url').toString('utf8');
  if (Buffer.from(path).toString('base64url') !== cursor)
    throw invalid('invalid_lock_cursor', 'This cursor is not from this server.');
  return path;
}

async function named({ accounts }: Pick<LfsDeps, 'accounts'>, rows: readonly LfsLockRow[]): Promise<LfsLock[]> {
  const people = await accounts.peopleById(new Set(rows.map(({ ownerId }) => ownerId)));
  return rows.map((row) => ({ ...row, ownerName: people.get(row.ownerId)?.username ?? 'unknown' }));
}

/**
 * Removes the viewer's own lock, or with force that of another user, which requires an administrator of the repository.
 * Throws `lfs_lock_not_found`, `lock_of_another`, and access errors.
 */
export async function removeLock(
  deps: LfsDeps,
  viewer: Viewer,
  context: LfsContext,
  { id, force }: { id: string; force: boolean },
): Promise<LfsLock> {
  const repositoryId = context.repository.id;
  const [lock, isForced] = await deps.db.write(async (tx) => {
    await refuseInWrite(deps, tx, viewer, context, 'lock');
    const row = await tx.manager.findOneBy(lfsLockSchema, { id, repositoryId });
    if (row === null) throw notFound('lfs_lock_not_found', 'There is no such lock.');
    const isOwn = row.ownerId === personIdOf(viewer);
    if (!isOwn && !force)
      throw forbidden('lock_of_another', 'Another user holds this lock. An administrator can remove it with --force.');
    if (!isOwn) await refuseInWrite(deps, tx, viewer, context, 'unlock_others');
    await tx.manager.delete(lfsLockSchema, { id });
    return [row, !isOwn] as const;
  });
  if (isForced)
    deps.logger.info('lfs.lock_forced', {
      repositoryId,
      path: lock.path,
      owner: lock.ownerId,
      by: viewerForLog(viewer),
    });
  return (await named(deps, [lock]))[0]!;
}
