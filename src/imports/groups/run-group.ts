import { localAdministrator } from '../../access/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { SourceBusy } from '../client/source-errors.ts';
import { leaseMs, renewMs } from '../context/run-context.ts';
import type { ImportDeps } from '../deps.ts';
import { connectClient, decryptToken } from '../run/open-run.ts';
import { describeFailure } from '../run/run-import.ts';
import { groupOwnerSchema, importGroupSchema } from '../schema/group-schema.ts';
import type { GroupOwnerRow, ImportGroupRow } from '../schema/group-schema.ts';
import { importHostSchema } from '../schema/import-schema.ts';
import { openListing } from '../sources/list-repositories.ts';
import type { ListedOwner, SourceListing } from '../sources/list-repositories.ts';
import { beginItem } from './begin-item.ts';
import { bringOwner } from './bring-owner-details.ts';
import { findOwner } from './find-owner.ts';
import { viewerOfGroup } from './group-viewer.ts';

/** Limit of repositories per group; above the number in any account. */
const mostItems = 20_000;
const mostFailures = 8;
const firstRetryMs = 60_000;
const forPeople = new Set(['source_refused', 'source_gone', 'import_token_closed', 'import_starter_gone']);

/**
 * Lists the repositories of an account or a server and starts an import for each, which then runs by itself; then
 * brings what its owners have beside them. Resumes after a stop: each page and each repository is a separate write.
 * Never throws.
 */
export async function runGroup(deps: ImportDeps, row: ImportGroupRow, signal: AbortSignal): Promise<void> {
  const heart = setInterval(() => {
    update(deps, row, { lockedUntil: deps.clock.now() + leaseMs }).catch((error: unknown) =>
      deps.logger.warn('import.claim_not_renewed', { groupId: row.id, error }),
    );
  }, renewMs);
  let requests = 0;
  try {
    const token = decryptToken(deps, row);
    const client = connectClient(deps, row, token, { signal, count: () => (requests += 1) });
    const listing = openListing(client, row.kind, row.api, () => {});
    const viewer = await viewerOfGroup(deps, row.startedBy);
    await listOwners(deps, row, listing, signal);
    for (const owner of await deps.db.read.findBy(groupOwnerSchema, { groupId: row.id })) {
      signal.throwIfAborted();
      const found = await settleOwner(deps, row, owner, viewer.username ?? '');
      if (found.problem === null) await listRepositories(deps, row, found, listing, signal);
    }
    for (;;) {
      const waiting: { project: string }[] = await deps.db.read.query(
        `SELECT project FROM import_group_items WHERE group_id = ? AND repository_id IS NULL AND problem IS NULL
         ORDER BY project LIMIT 100`,
        [row.id],
      );
      if (waiting.length === 0) break;
      for (const { project } of waiting) {
        signal.throwIfAborted();
        // The owners of a whole server differ from its administrator.
        await beginItem(deps, row, project, { token, viewer: row.account === '' ? localAdministrator : viewer });
      }
    }
    for (const owner of await deps.db.read.findBy(groupOwnerSchema, { groupId: row.id, isBrought: false })) {
      signal.throwIfAborted();
      if (owner.ownerId !== null) await bringOwner(deps, row, owner, { client, viewer, ownerId: owner.ownerId });
    }
    await update(deps, row, { state: 'done', lockedUntil: 0, waitsUntil: null, failures: 0, lastError: null });
    deps.logger.info('import.group_listed', { groupId: row.id, requests });
  } catch (error) {
    if (signal.aborted) return void (await update(deps, row, { lockedUntil: 0 }).catch(() => {}));
    await fail(deps, row, error);
  } finally {
    clearInterval(heart);
    await deps.db
      .write(({ manager }) => manager.increment(importGroupSchema, { id: row.id }, 'requests', requests))
      .catch(() => {});
  }
}

const update = async ({ db }: ImportDeps, { id }: ImportGroupRow, changes: Partial<ImportGroupRow>): Promise<void> =>
  void (await db.write(({ manager, now }) =>
    manager.update(importGroupSchema, { id }, { ...changes, updatedAt: now }),
  ));

async function fail(deps: ImportDeps, row: ImportGroupRow, error: unknown): Promise<void> {
  const now = deps.clock.now();
  if (error instanceof SourceBusy) {
    const { until } = error;
    const { host } = new URL(row.api);
    await deps.db.write(({ manager }) => manager.upsert(importHostSchema, { host, blockedUntil: until }, ['host']));
    return update(deps, row, { lockedUntil: 0, nextAt: until, waitsUntil: until, lastError: null });
  }
  const failures = row.failures + 1;
  const isForPeople = isDomainError(error) && forPeople.has(error.reason);
  deps.logger.warn('import.group_failed', { groupId: row.id, failures, error });
  await update(deps, row, {
    state: isForPeople || failures >= mostFailures ? 'paused' : 'running',
    failures,
    waitsUntil: null,
    lastError: describeFailure(error, row.url),
    lockedUntil: 0,
    nextAt: now + firstRetryMs * 2 ** (failures - 1),
  });
}

/** All owners of a server, page by page; an account already has its only one. */
async function listOwners(
  deps: ImportDeps,
  row: ImportGroupRow,
  { owners }: SourceListing,
  signal: AbortSignal,
): Promise<void> {
  while (!row.hasOwners && owners !== null) {
    signal.throwIfAborted();
    const { rows, next } = await owners(row.cursor);
    Object.assign(row, { cursor: next, hasOwners: next === null });
    await deps.db.write(async ({ manager, now }) => {
      for (const owner of rows) await insertOwner({ manager }, row, owner);
      const { cursor, hasOwners } = row;
      await manager.update(importGroupSchema, { id: row.id }, { cursor, hasOwners, updatedAt: now });
    });
  }
}

/** An owner that is already stored keeps its result, and gets what its list says now. */
export async function insertOwner(
  { manager }: Pick<Parameters<Parameters<ImportDeps['db']['write']>[0]>[0], 'manager'>,
  { id, host }: Pick<ImportGroupRow, 'id' | 'host'>,
  owner: ListedOwner,
  ownerId: string | null = null,
): Promise<void> {
  await manager.query(
    `INSERT INTO import_group_owners (group_id, login, kind, details, owner_id) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (group_id, login) DO UPDATE SET details = excluded.details`,
    [id, owner.login, owner.kind, JSON.stringify(owner), ownerId],
  );
  // An administrator's mapping references users of this list, and users claim their texts by their e-mail address.
  if (owner.kind === 'user')
    await manager.query(
      `INSERT INTO import_people (host, login, remote_id, name, email, url) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (host, login) DO NOTHING`,
      [host, owner.login, owner.id, owner.name.slice(0, 100), owner.email.toLowerCase().slice(0, 250), owner.url],
    );
}

async function settleOwner(
  deps: ImportDeps,
  row: ImportGroupRow,
  owner: GroupOwnerRow,
  starter: string,
): Promise<GroupOwnerRow> {
  if (owner.ownerId !== null) return { ...owner, problem: null };
  const found = await findOwner(deps, row, owner, starter);
  const changes =
    'id' in found
      ? { ownerId: found.id, isMade: found.isMade, problem: null }
      : { problem: found.problem.slice(0, 500) };
  const { groupId, login } = owner;
  await deps.db.write(({ manager }) => manager.update(groupOwnerSchema, { groupId, login }, changes));
  return { ...owner, ...changes };
}

async function listRepositories(
  deps: ImportDeps,
  row: ImportGroupRow,
  owner: GroupOwnerRow,
  listing: SourceListing,
  signal: AbortSignal,
): Promise<void> {
  const { groupId, login } = owner;
  const listed = JSON.parse(owner.details) as ListedOwner;
  const seen = new Set<string>();
  let { cursor } = owner;
  for (let isListed = owner.isListed; !isListed; ) {
    signal.throwIfAborted();
    const { rows, next } = await listing.repositories(listed, cursor);
    // A next page that was already read ends the list.
    isListed = next === null || seen.has(next);
    cursor = isListed ? null : next;
    if (next !== null) seen.add(next);
    await deps.db.write(async ({ manager }) => {
      const { n } = (
        (await manager.query('SELECT count(*) AS n FROM import_group_items WHERE group_id = ?', [groupId])) as {
          n: number;
        }[]
      )[0]!;
      for (const { project, name, url } of Number(n) >= mostItems ? [] : rows)
        await manager.query(
          `INSERT INTO import_group_items (group_id, project, login, name, url) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (group_id, project) DO NOTHING`,
          [groupId, project, login, name, url],
        );
      await manager.update(groupOwnerSchema, { groupId, login }, { cursor, isListed });
    });
  }
}
