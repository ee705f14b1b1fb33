import { invalid } from '../../kernel/index.ts';
import { AlreadyLocked } from '../../lfs/index.ts';
import type { LfsLock } from '../../lfs/index.ts';
import { personIdOf } from '../../access/index.ts';
import type { GitHttpDeps } from '../deps.ts';
import type { GitExchange } from '../git-exchange.ts';
import { sendLfsJson } from './lfs-response.ts';
import { openFor, readLfsJson } from './lfs-request.ts';

// Locks (Git LFS File Locking API).

const viewLock = ({ id, path, lockedAt, ownerName }: LfsLock) => ({
  id,
  path,
  locked_at: new Date(lockedAt).toISOString(),
  owner: { name: ownerName },
});

/** `{ref: {name}}`, as sent by clients. */
const refOf = ({ ref }: Readonly<Record<string, unknown>>): unknown =>
  ref !== null && typeof ref === 'object' ? (ref as { name?: unknown }).name : undefined;

export async function serveCreateLock(deps: GitHttpDeps, exchange: GitExchange): Promise<void> {
  const { viewer, context } = await openFor(deps, exchange, 'lock', 'upload');
  const body = await readLfsJson(exchange);
  try {
    const lock = await deps.lfs.locks.create(viewer, context, { path: body.path, ref: refOf(body) });
    sendLfsJson(exchange, 201, { lock: viewLock(lock) });
  } catch (error) {
    if (!(error instanceof AlreadyLocked)) throw error;
    const { requestId } = exchange.state;
    sendLfsJson(exchange, 409, { lock: viewLock(error.lock), message: error.message, request_id: requestId });
  }
}

export async function serveListLocks(deps: GitHttpDeps, exchange: GitExchange): Promise<void> {
  const { context } = await openFor(deps, exchange, 'download', 'download');
  const query = new URLSearchParams(exchange.querystring);
  const { locks, nextCursor } = await deps.lfs.locks.list(context, {
    path: query.get('path') ?? undefined,
    id: query.get('id') ?? undefined,
    cursor: query.get('cursor') ?? undefined,
    limit: readLimit(query.get('limit') ?? undefined),
  });
  sendLfsJson(exchange, 200, {
    locks: locks.map(viewLock),
    ...(nextCursor === null ? {} : { next_cursor: nextCursor }),
  });
}

/** `POST locks/verify`, before a push: splits locks into the caller's own and those of others. */
export async function serveVerifyLocks(deps: GitHttpDeps, exchange: GitExchange): Promise<void> {
  const { viewer, context } = await openFor(deps, exchange, 'upload', 'upload');
  const { cursor, limit } = await readLfsJson(exchange);
  const page = await deps.lfs.locks.list(context, {
    cursor: typeof cursor === 'string' ? cursor : undefined,
    limit: readLimit(limit),
  });
  const isOwn = ({ ownerId }: LfsLock): boolean => ownerId === personIdOf(viewer);
  sendLfsJson(exchange, 200, {
    ours: page.locks.filter(isOwn).map(viewLock),
    theirs: page.locks.filter((lock) => !isOwn(lock)).map(viewLock),
    ...(page.nextCursor === null ? {} : { next_cursor: page.nextCursor }),
  });
}

export async function serveUnlock(deps: GitHttpDeps, exchange: GitExchange, id: string): Promise<void> {
  const { viewer, context } = await openFor(deps, exchange, 'lock', 'upload');
  const { force } = await readLfsJson(exchange);
  const lock = await deps.lfs.locks.remove(viewer, context, { id, force: force === true });
  sendLfsJson(exchange, 200, { lock: viewLock(lock) });
}

/** Throws `lfs_limit`. Clients send 0 for none. */
function readLimit(limit: unknown): number | undefined {
  if (limit === undefined || limit === null || limit === '' || limit === 0 || limit === '0') return undefined;
  const number = typeof limit === 'string' && /^\d{1,6}$/.test(limit) ? Number(limit) : limit;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1)
    throw invalid('lfs_limit', 'The limit of a list is a whole number.');
  return number;
}
