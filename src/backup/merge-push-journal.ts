import { askDatabaseFile } from '../db/index.ts';
import type { ThreadStatement } from '../db/index.ts';
import { listenersWithSideEffects } from './listeners-with-side-effects.ts';

/** A push that is missing in an older copy of the database. */
interface MergedPush {
  id: string;
  /** `owner/name` in the newer database. */
  repository: string;
  /** Epoch milliseconds. */
  at: number;
}

export interface MergedJournal {
  /** Oldest first. */
  pushes: MergedPush[];
  /** Repositories that could not be merged, because their owner is also newer. */
  left: { id: string; ownerId: string; repository: string }[];
}

const plain = (sql: string, ...parameters: unknown[]): ThreadStatement => ({ sql, parameters });

const nameOf = `(SELECT coalesce(u.username, o.name) || '/' || r.name FROM newer.repositories r
  LEFT JOIN newer.users u ON u.id = r.owner_user_id LEFT JOIN newer.organisations o ON o.id = r.owner_org_id WHERE r.id =`;

/** Pushes that only the newer database has, oldest first. Read-only. */
export async function pushesAfter(older: string, newer: string): Promise<MergedPush[]> {
  const [rows = []] = await askDatabaseFile(
    older,
    [
      plain(`SELECT p.id, p.created_at AS at, ${nameOf} p.repository_id) AS repository FROM newer.pushes p
      WHERE p.settled_at IS NOT NULL AND p.id NOT IN (SELECT id FROM main.pushes WHERE settled_at IS NOT NULL) ORDER BY p.created_at, p.rowid`),
    ],
    { attached: { newer } },
  );
  return rows.map(({ id, at, repository }) => ({ id: String(id), at: Number(at), repository: String(repository) }));
}

/**
 * Merges the later changes of repositories into an older copy of the database: pushes with their ref updates, and
 * repositories with owners and names. All other data stays old, except revocations: of keys, tokens, rights, accounts,
 * and public visibility. The two schemas may differ; tables and columns that only one of them has are omitted.
 *
 * Push listeners are notified of these pushes at the next start, which updates all data derived from refs, with two
 * exceptions: listeners with side effects on other hosts, and CI runs other than the newest of each ref.
 */
export async function mergePushJournal(older: string, newer: string): Promise<MergedJournal> {
  const pushes = await pushesAfter(older, newer);
  const { both, ways } = await compareSchemas(older, newer);
  const owned = both('repositories').filter((name) => /^owner_/.test(name));
  const hasOwner = `(n.owner_user_id IN (SELECT id FROM main.users)${owned.includes('owner_org_id') ? ' OR n.owner_org_id IN (SELECT id FROM main.organisations)' : ''})`;
  const columns = both('repositories');
  const moved = [...owned, 'name', 'name_folded'];
  const pushColumns = both('pushes');
  const updateColumns = both('push_updates');
  const valueOf: Record<string, string> = {
    user_id: '(SELECT id FROM main.users WHERE id = n.user_id)',
    via: `CASE WHEN n.via IN (${ways}) THEN n.via ELSE 'http' END`,
  };
  const isUndoKnown = updateColumns.includes('kept_until');
  const listeners = [...listenersWithSideEffects, ...(isUndoKnown ? ['undo'] : [])]
    .map((name) => `('${name}')`)
    .join(', ');
  const accepted = "EXISTS (SELECT 1 FROM main.push_updates u WHERE u.push_id = pushes.id AND u.result = 'ok')";

  const results = await askDatabaseFile(
    older,
    [
      // Permanently removed: their folders no longer exist.
      plain('DELETE FROM main.repositories WHERE id NOT IN (SELECT id FROM newer.repositories)'),
      // Folders and HEAD are at the paths of the newer one. Names are cleared first, since two repositories may have
      // swapped them.
      plain(
        `UPDATE main.repositories SET name_folded = id WHERE id IN (SELECT n.id FROM newer.repositories n WHERE n.name_folded <> repositories.name_folded AND ${hasOwner})`,
      ),
      plain(`UPDATE OR IGNORE main.repositories SET (${moved.join(', ')}) = (SELECT ${moved.join(', ')} FROM newer.repositories n WHERE n.id = repositories.id)
      WHERE id IN (SELECT n.id FROM newer.repositories n WHERE ${hasOwner})`),
      plain('UPDATE OR IGNORE main.repositories SET name_folded = lower(name) WHERE name_folded = id'),
      plain(
        'UPDATE OR IGNORE main.repositories SET (default_branch, deleted_at, deleted_by) = (SELECT default_branch, deleted_at, deleted_by FROM newer.repositories n WHERE n.id = repositories.id) WHERE id IN (SELECT id FROM newer.repositories)',
      ),
      plain(`INSERT OR IGNORE INTO main.repositories (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM newer.repositories n
      WHERE n.id NOT IN (SELECT id FROM main.repositories) AND ${hasOwner}`),
      // Settled since; they are inserted with the others.
      plain(
        'DELETE FROM main.pushes WHERE settled_at IS NULL AND id IN (SELECT id FROM newer.pushes WHERE settled_at IS NOT NULL)',
      ),
      plain(
        'CREATE TEMP TABLE carried AS SELECT id FROM newer.pushes WHERE id NOT IN (SELECT id FROM main.pushes) AND repository_id IN (SELECT id FROM main.repositories)',
      ),
      plain(`INSERT INTO main.pushes (${pushColumns.join(', ')}) SELECT ${pushColumns.map((name) => valueOf[name] ?? `n.${name}`).join(', ')}
      FROM newer.pushes n WHERE n.id IN (SELECT id FROM temp.carried) ORDER BY n.rowid`),
      plain(
        `INSERT INTO main.push_updates (${updateColumns.join(', ')}) SELECT ${updateColumns.join(', ')} FROM newer.push_updates WHERE push_id IN (SELECT id FROM temp.carried)`,
      ),
      plain(
        'INSERT INTO main.push_announcements (push_id, listener) SELECT push_id, listener FROM newer.push_announcements WHERE push_id IN (SELECT id FROM temp.carried)',
      ),
      plain(`INSERT OR IGNORE INTO main.push_announcements (push_id, listener) SELECT p.id, told.column1 FROM main.pushes p, (VALUES ${listeners}) told
      WHERE p.id IN (SELECT id FROM temp.carried) AND p.announced_at IS NOT NULL`),
      plain(`UPDATE main.pushes SET announced_at = NULL WHERE id IN (SELECT id FROM temp.carried) AND ${accepted}`),
      plain(`UPDATE main.repositories SET (pushed_at, updated_at) = (SELECT n.pushed_at, n.updated_at FROM newer.repositories n WHERE n.id = repositories.id)
      WHERE id IN (SELECT repository_id FROM main.pushes WHERE id IN (SELECT id FROM temp.carried))`),
      ...takenAway(both),
      ...auditSince(both),
      plain(`SELECT p.id, p.repository_id AS repository, u.ref FROM main.pushes p JOIN main.push_updates u ON u.push_id = p.id
      WHERE p.id IN (SELECT id FROM temp.carried) AND u.result = 'ok' ORDER BY p.created_at DESC, p.rowid DESC`),
      plain(`SELECT n.id, coalesce(n.owner_user_id, n.owner_org_id) AS owner, ${nameOf} n.id) AS repository FROM newer.repositories n
      WHERE n.deleted_at IS NULL AND n.id NOT IN (SELECT id FROM main.repositories) ORDER BY repository`),
    ],
    { setUp: [], attached: { newer } },
  );

  const superseded = findSuperseded(
    results.at(-2)!.map(({ id, repository, ref }) => [String(id), `${repository} ${ref}`] as const),
  );
  await askDatabaseFile(
    older,
    [
      plain(
        "INSERT OR IGNORE INTO push_announcements (push_id, listener) SELECT value, 'ci' FROM json_each(?)",
        JSON.stringify(superseded),
      ),
    ],
    { setUp: [] },
  );
  return {
    pushes,
    left: results
      .at(-1)!
      .map(({ id, owner, repository }) => ({ id: String(id), ownerId: String(owner), repository: String(repository) })),
  };
}

type BothHave = (table: string) => string[];

/** Columns that both databases have, and the values that the older one accepts for the transport of a push. */
async function compareSchemas(older: string, newer: string): Promise<{ both: BothHave; ways: string }> {
  const columns = plain(
    'SELECT t.name AS "table", c.name AS "column" FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = \'table\' ORDER BY c.cid',
  );
  const [ofOlder = [], made = []] = await askDatabaseFile(older, [
    columns,
    plain("SELECT sql FROM sqlite_master WHERE name = 'pushes'"),
  ]);
  const [ofNewer = []] = await askDatabaseFile(newer, [columns]);
  const known = new Set(ofNewer.map((row) => `${row['table']}.${row['column']}`));
  return {
    both: (table) =>
      ofOlder
        .filter((row) => row['table'] === table && known.has(`${table}.${row['column']}`))
        .map((row) => String(row['column'])),
    ways: /via IN \(([^)]+)\)/.exec(String(made[0]?.['sql']))?.[1] ?? "'http'",
  };
}

/** Statements that repeat revocations, so that an older copy does not restore lost access. */
function takenAway(both: BothHave): ThreadStatement[] {
  const isGone = (table: string, key: string) =>
    plain(`DELETE FROM main.${table} WHERE (${key}) NOT IN (SELECT ${key} FROM newer.${table})`);
  return [
    ...['ssh_keys', 'gpg_keys', 'access_tokens', 'sessions', 'invites']
      .filter((table) => both(table).includes('id'))
      .map((table) => isGone(table, 'id')),
    ...(both('ssh_keys').includes('uses')
      ? [
          plain(
            "UPDATE main.ssh_keys SET uses = 'signing' WHERE id IN (SELECT id FROM newer.ssh_keys WHERE uses = 'signing')",
          ),
        ]
      : []),
    ...(both('deploy_keys').length > 0
      ? [
          isGone('deploy_keys', 'id'),
          plain(
            "UPDATE main.deploy_keys SET access = 'read' WHERE id IN (SELECT id FROM newer.deploy_keys WHERE access = 'read')",
          ),
        ]
      : []),
    isGone('collaborators', 'repository_id, user_id'),
    ...[
      ['teams', 'id'],
      ['team_members', 'team_id, user_id'],
      ['team_repositories', 'team_id, repository_id'],
    ].flatMap(([table, key]) => (both(table!).length > 0 ? [isGone(table!, key!)] : [])),
    plain(
      'UPDATE main.users SET disabled_at = (SELECT n.disabled_at FROM newer.users n WHERE n.id = users.id) WHERE disabled_at IS NULL AND id IN (SELECT id FROM newer.users WHERE disabled_at IS NOT NULL)',
    ),
    plain(
      "UPDATE main.repositories SET visibility = 'PRIVATE' WHERE id IN (SELECT id FROM newer.repositories WHERE visibility = 'PRIVATE')",
    ),
  ];
}

/** Statements that append newer entries of the audit log, if both logs belong to one chain. */
function auditSince(both: BothHave): ThreadStatement[] {
  const columns = both('audit_log').join(', ');
  if (columns === '') return [];
  const last = 'SELECT max(id) FROM main.audit_log';
  return [
    plain(`INSERT INTO main.audit_log (${columns}) SELECT ${columns} FROM newer.audit_log WHERE id > coalesce((${last}), 0)
    AND (SELECT hash FROM newer.audit_log WHERE id = (${last})) IS (SELECT hash FROM main.audit_log WHERE id = (${last})) ORDER BY id`),
  ];
}

/** @param moves newest first: a push, and a ref that it updated */
function findSuperseded(moves: readonly (readonly [pushId: string, ref: string])[]): string[] {
  const seen = new Set<string>();
  const newest = new Set<string>();
  for (const [pushId, ref] of moves) {
    if (!seen.has(ref)) newest.add(pushId);
    seen.add(ref);
  }
  return [...new Set(moves.map(([pushId]) => pushId))].filter((pushId) => !newest.has(pushId));
}
