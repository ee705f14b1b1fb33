import { isLocalAdministrator, viewerForLog } from '../../access/index.ts';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import { invalid, isDomainError, notFound, unauthenticated } from '../../kernel/index.ts';
import { kindsOf, parseAccountAddress } from '../connect/open-source.ts';
import type { AccountAddress } from '../connect/open-source.ts';
import type { ImportOptions } from '../context/run-context.ts';
import type { ImportDeps } from '../deps.ts';
import { checkInput, readOptions, refusalOf, runAgain } from '../manage-imports.ts';
import { connectClient, encryptToken } from '../run/open-run.ts';
import { groupLineSchema, groupOwnerSchema, importGroupSchema } from '../schema/group-schema.ts';
import type { GroupItemRow, ImportGroupRow } from '../schema/group-schema.ts';
import type { ImportState } from '../schema/import-schema.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import { openListing } from '../sources/list-repositories.ts';
import type { ListedOwner } from '../sources/list-repositories.ts';
import { insertOwner } from './run-group.ts';

export interface NewImportGroup extends Partial<Omit<ImportOptions, 'archivesSource'>> {
  /** Page URL of an account or the server. */
  address: string;
  token?: string | undefined;
  kind?: SourceKind | undefined;
  /** Handle here; the viewer if omitted. Not for a whole server. */
  owner?: string | undefined;
  /** All owners of the server; only for administrators. */
  isServer?: boolean;
  watchMs?: number | null | undefined;
}

/** A group without its token, with the number of its repositories in each state. */
export interface ImportGroup
  extends Omit<ImportGroupRow, 'secretCiphertext' | 'options' | 'lockedUntil' | 'cursor' | 'hasOwners'> {
  counts: { all: number; done: number; running: number; paused: number; refused: number };
}

/** A repository of a group. */
export interface ImportGroupItem extends Pick<GroupItemRow, 'project' | 'url' | 'problem' | 'repositoryId'> {
  /** Null before its import has begun, and if it was refused. */
  state: ImportState | null;
  lastError: string | null;
}

const noGroup = () => notFound('import_not_found', 'There is no such import.');

/**
 * Starts the import of all repositories of an account, an organisation or a server. Each becomes a separate import that
 * runs by itself. Refuses what `startImport` refuses; `import_refused` for a server whose API lists no owners, and
 * `invalid_import` for users who may not import a whole server.
 */
export async function startGroup(deps: ImportDeps, viewer: Viewer, input: NewImportGroup): Promise<ImportGroup> {
  const { token = '', isServer = false, watchMs = null } = input;
  if (viewer.kind !== 'person') throw unauthenticated('sign_in_required', 'Sign in to import.');
  checkInput(token, watchMs);
  if (isServer && (!viewer.isAdministrator || isLocalAdministrator(viewer)))
    throw invalid(
      'invalid_import',
      'Only an administrator can import a whole server. The administrator becomes the owner of its organisations on this server.',
      {
        field: 'owner',
      },
    );
  const target = isServer ? null : await ownerFor(deps, viewer, input.owner);
  const { address, owner } = await findAccount(deps, input, token, isServer);
  const id = deps.random.uuid();
  await deps.db.write(async ({ manager, now }) => {
    await manager.insert(importGroupSchema, {
      id,
      ...address,
      owner: target?.handle ?? '',
      secretCiphertext: token === '' ? null : encryptToken(deps, id, address.host, token),
      options: JSON.stringify(readOptions(input)),
      state: 'running',
      cursor: null,
      hasOwners: owner !== null,
      watchMs,
      nextAt: now,
      lockedUntil: 0,
      waitsUntil: null,
      failures: 0,
      lastError: null,
      requests: 0,
      startedBy: isLocalAdministrator(viewer) ? null : viewer.id,
      createdAt: now,
      updatedAt: now,
    });
    if (owner !== null) await insertOwner({ manager }, { id, host: address.host }, owner, target!.id);
  });
  deps.logger.info('import.group_started', { groupId: id, host: address.host, by: viewerForLog(viewer) });
  return (await findGroup(deps, viewer, id)).group;
}

async function ownerFor(deps: ImportDeps, viewer: PersonViewer, handle: string | undefined) {
  const wanted = handle ?? viewer.username;
  const owner = wanted === null ? null : await deps.owners.resolve(wanted);
  const isOwn =
    owner !== null &&
    (isLocalAdministrator(viewer) ||
      owner.id === viewer.id ||
      (owner.kind === 'organisation' &&
        ['MEMBER', 'OWNER'].includes((await deps.organisations.roleOf(viewer.id, owner.id)) ?? '')));
  if (owner === null || !isOwn)
    throw invalid('no_such_owner', 'This owner does not exist, or you cannot create repositories there.', {
      field: 'owner',
    });
  return owner;
}

/** Requests the account from the server, or checks that it lists all of its owners for this token. */
async function findAccount(
  deps: ImportDeps,
  { address: given, kind }: NewImportGroup,
  token: string,
  isServer: boolean,
): Promise<{ address: AccountAddress; owner: ListedOwner | null }> {
  const kinds = kind === undefined ? kindsOf(given) : [kind];
  const settings = { ...deps.settings, ...(kinds.length > 1 && { retryMs: [] }) };
  const refusals: ReturnType<typeof invalid>[] = [];
  for (const each of kinds) {
    const address = parseAccountAddress(given, each, isServer);
    const client = connectClient({ ...deps, settings }, address, token, { signal: AbortSignal.timeout(30_000) });
    const listing = openListing(client, each, address.api, () => {});
    try {
      if (!isServer) return { address, owner: await listing.owner(address.account) };
      if (listing.owners === null)
        throw invalid('import_refused', 'This server does not list its owners.', { field: 'address' });
      await listing.owners(null);
      return { address, owner: null };
    } catch (error) {
      const refusal = refusalOf(deps, error, address);
      if (!isDomainError(refusal) || refusal.reason !== 'import_refused') throw refusal;
      refusals.push(refusal as ReturnType<typeof invalid>);
    }
  }
  throw refusals.find(({ field }) => field === 'token') ?? refusals[0]!;
}

/** Groups started by a user, or all for administrators; newest first. */
export async function listGroups(deps: ImportDeps, viewer: Viewer, limit = 100): Promise<ImportGroup[]> {
  if (viewer.kind !== 'person') return [];
  const rows = await deps.db.read.find(importGroupSchema, {
    ...(viewer.isAdministrator ? {} : { where: { startedBy: viewer.id } }),
    order: { createdAt: 'DESC', id: 'ASC' },
    take: limit,
  });
  return Promise.all(rows.map((row) => describe(deps, row)));
}

const mostItems = 20_000;
const mostLines = 2_000;

/** A line about an owner at the source. */
interface AboutOwner {
  login: string;
  problem: string;
}

/**
 * A group with the results of its repositories, the owners that have no counterpart here, and the report about the
 * others. Throws `import_not_found`, also for groups of other users.
 */
export async function findGroup(
  deps: ImportDeps,
  viewer: Viewer,
  id: string,
): Promise<{ group: ImportGroup; items: ImportGroupItem[]; owners: AboutOwner[]; lines: AboutOwner[] }> {
  const row = await deps.db.read.findOneBy(importGroupSchema, { id });
  const isShown = viewer.kind === 'person' && (viewer.isAdministrator || row?.startedBy === viewer.id);
  if (row === null || !isShown) throw noGroup();
  const items: ImportGroupItem[] = await deps.db.read.query(
    `SELECT g.project AS project, g.url AS url, g.problem AS problem, g.repository_id AS "repositoryId",
       i.state AS state, i.last_error AS "lastError"
     FROM import_group_items g LEFT JOIN imports i ON i.repository_id = g.repository_id
     WHERE g.group_id = ? ORDER BY g.project LIMIT ?`,
    [id, mostItems],
  );
  const owners = await deps.db.read.findBy(groupOwnerSchema, { groupId: id });
  const lines = await deps.db.read.find(groupLineSchema, {
    where: { groupId: id },
    order: { login: 'ASC', problem: 'ASC' },
    take: mostLines,
  });
  return {
    group: await describe(deps, row),
    items,
    owners: owners.flatMap(({ login, problem }) => (problem === null ? [] : [{ login, problem }])),
    lines: lines.map(({ login, problem }) => ({ login, problem })),
  };
}

async function describe(
  { db, clock }: ImportDeps,
  { secretCiphertext: _, options: __, lockedUntil: ___, cursor: ____, hasOwners: _____, ...row }: ImportGroupRow,
): Promise<ImportGroup> {
  const rows: { state: ImportState | null; refused: number; n: number }[] = await db.read.query(
    `SELECT CASE WHEN i.state = 'done' AND i.next_at <= ? THEN 'running' ELSE i.state END AS state,
       CASE WHEN g.problem IS NULL THEN 0 ELSE 1 END AS refused, count(*) AS n
     FROM import_group_items g LEFT JOIN imports i ON i.repository_id = g.repository_id
     WHERE g.group_id = ? GROUP BY 1, 2`,
    // A due import is about to run.
    [clock.now(), row.id],
  );
  const count = (isCounted: (each: (typeof rows)[number]) => boolean): number =>
    rows.filter(isCounted).reduce((sum, { n }) => sum + Number(n), 0);
  return {
    ...row,
    requests: Number(row.requests),
    counts: {
      all: count(() => true),
      done: count(({ state }) => state === 'done' || state === 'ended'),
      running: count(({ state }) => state === 'running'),
      paused: count(({ state }) => state === 'paused'),
      refused: count(({ refused }) => Number(refused) === 1),
    },
  };
}

/** A user's request for a group. */
interface GroupWish {
  /** Another token; unchanged if omitted. */
  token?: string | undefined;
  isFull?: boolean;
  /** Whether each of its repositories gets its last run. */
  isLast?: boolean;
  archivesSource?: boolean;
}

/**
 * Lists the source again, starts imports that are new or were refused before, and reruns the others, possibly for the
 * last time. Throws `import_not_found`, `invalid_import`.
 */
export async function runGroupAgain(
  deps: ImportDeps,
  viewer: Viewer,
  id: string,
  { token = '', ...wish }: GroupWish,
): Promise<void> {
  checkInput(token, null);
  const { group, items } = await findGroup(deps, viewer, id);
  for (const { repositoryId, state } of items)
    if (repositoryId !== null && state !== null && state !== 'ended')
      await runAgain(deps, viewer, repositoryId, { ...wish, token });
  const { isLast = false } = wish;
  await deps.db.write(async ({ manager, now }) => {
    const at = { groupId: id };
    if (!isLast) {
      await manager.update(groupOwnerSchema, at, { isListed: false, isBrought: false, cursor: null });
      await manager.query('UPDATE import_group_items SET problem = NULL WHERE group_id = ? AND repository_id IS NULL', [
        id,
      ]);
    }
    await manager.update(
      importGroupSchema,
      { id },
      {
        ...(token === '' ? {} : { secretCiphertext: encryptToken(deps, id, group.host, token) }),
        // For an account, its only owner exists.
        ...(isLast ? { watchMs: null } : { state: 'running', hasOwners: group.account !== '', cursor: null }),
        nextAt: now,
        failures: 0,
        lastError: null,
        updatedAt: now,
      },
    );
  });
  deps.logger.info(isLast ? 'import.group_switch_over' : 'import.group_again', {
    groupId: id,
    by: viewerForLog(viewer),
  });
}
