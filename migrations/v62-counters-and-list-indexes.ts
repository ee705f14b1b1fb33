import type { Migration } from '../src/db/index.ts';

/** A count that triggers maintain: how much a row of its table adds to it. */
interface Counted {
  name: string;
  /**
   * A condition on the row, which stands for `NEW` and `OLD`: `row.disabled_at IS NULL`. When omitted, every row
   * counts.
   */
  where?: string;
  /** What a row adds; 1 when omitted. */
  amount?: string;
}

const added = ({ where = '1 = 1', amount = '1' }: Counted, row: 'NEW' | 'OLD'): string =>
  `CASE WHEN ${where} THEN ${amount} ELSE 0 END`.replaceAll('row.', `${row}.`);

/**
 * Maintains the counts of a table in the same transaction as its rows, for every change: by cascades and by hand, too.
 * The bodies are plain SQL that also works in PostgreSQL's trigger functions.
 * @param columns those that the counts depend on; updates of others do not fire the trigger
 */
function keepCounts(table: string, columns: string, counts: readonly Counted[]): string[] {
  const each = (change: (counted: Counted) => string): string =>
    counts
      .map((counted) => `UPDATE counts SET value = value + (${change(counted)}) WHERE name = '${counted.name}';`)
      .join(' ');
  const trigger = (name: string, event: string, body: string): string =>
    `CREATE TRIGGER counts_${table}_${name} AFTER ${event} ON ${table} BEGIN ${body} END`;
  return [
    ...counts.map(
      ({ name, where = '1 = 1', amount = '1' }) =>
        `INSERT INTO counts (name, value) SELECT '${name}', COALESCE(sum(${amount.replaceAll('row.', '')}), 0) FROM ${table} WHERE ${where.replaceAll('row.', '')}`,
    ),
    trigger(
      'added',
      'INSERT',
      each((counted) => added(counted, 'NEW')),
    ),
    trigger(
      'removed',
      'DELETE',
      each((counted) => `0 - ${added(counted, 'OLD')}`),
    ),
    ...(columns === ''
      ? []
      : [
          trigger(
            'changed',
            `UPDATE OF ${columns}`,
            each((counted) => `${added(counted, 'NEW')} - ${added(counted, 'OLD')}`),
          ),
        ]),
  ];
}

const present = 'WHERE deleted_at IS NULL';
/** An index for a list of an owner's rows: public and private ones apart, each in the order of the list. */
const ofOwners = (name: string, columns: string): string[] =>
  (['user', 'org'] as const).map(
    (kind) =>
      `CREATE INDEX repositories_${kind}_${name} ON repositories (owner_${kind}_id, ${columns}) ${present} AND owner_${kind}_id IS NOT NULL`,
  );

/**
 * For an instance of 100,000 people and as many repositories: maintained counts instead of counting, and an index for
 * every list.
 */
export const countersAndListIndexes: Migration = {
  version: 62,
  name: 'LargeInstance',
  statements: [
    `CREATE TABLE counts (
      name TEXT PRIMARY KEY NOT NULL,
      value BIGINT NOT NULL
    )`,
    ...keepCounts('users', 'username, disabled_at', [
      { name: 'accounts' },
      { name: 'people', where: 'row.disabled_at IS NULL' },
      { name: 'profiles', where: 'row.username IS NOT NULL AND row.disabled_at IS NULL' },
    ]),
    ...keepCounts('organisations', '', [{ name: 'organisations' }]),
    ...keepCounts('repositories', 'size_bytes, deleted_at', [
      { name: 'repositories', where: 'row.deleted_at IS NULL' },
      { name: 'repository_bytes', where: 'row.deleted_at IS NULL', amount: 'row.size_bytes' },
      { name: 'trashed_repositories', where: 'row.deleted_at IS NOT NULL' },
    ]),
    ...keepCounts('federation_delivery', 'state', [
      { name: 'pending_deliveries', where: "row.state = 'PENDING'" },
      { name: 'delivered_deliveries', where: "row.state = 'DELIVERED'" },
      { name: 'failed_deliveries', where: "row.state = 'FAILED'" },
    ]),
    ...keepCounts('mirrors', 'failures', [{ name: 'mirrors' }, { name: 'failing_mirrors', where: 'row.failures > 0' }]),
    ...keepCounts('ci_runners', '', [{ name: 'runners' }]),

    // People and organisations by handle, ignoring case, and by age. Those without a username come last: no username
    // contains `~`.
    `CREATE INDEX users_listed ON users (COALESCE(lower(username), '~' || id))`,
    `CREATE INDEX users_created ON users (created_at, id)`,
    `CREATE INDEX users_administrators ON users (is_administrator, id)`,
    `CREATE INDEX organisation_members_role ON organisation_members (organisation_id, role)`,
    `CREATE INDEX organisations_folded ON organisations (lower(name), id)`,
    `CREATE INDEX organisations_created ON organisations (created_at, id)`,
    `CREATE INDEX invites_open ON invites (created_at, id) WHERE used_at IS NULL`,

    // Repositories: all, and each owner's, in the orders of the lists. The name is included for filtering.
    `DROP INDEX repositories_recent`,
    `CREATE INDEX repositories_updated ON repositories (visibility, updated_at, id, name_folded) ${present}`,
    `CREATE INDEX repositories_created ON repositories (visibility, created_at, id, name_folded) ${present}`,
    `CREATE INDEX repositories_named ON repositories (visibility, name_folded, id) ${present}`,
    ...ofOwners('updated', 'visibility, updated_at, id, name_folded'),
    ...ofOwners('created', 'visibility, created_at, id, name_folded'),
    ...ofOwners('named', 'visibility, name_folded, id'),
    ...ofOwners('pushed', 'pushed_at, id'),
    `CREATE INDEX repositories_sized ON repositories (visibility, size_bytes, id) ${present}`,
    `CREATE INDEX repositories_trash ON repositories (deleted_at, id) WHERE deleted_at IS NOT NULL`,

    `DROP INDEX pushes_repository`,
    `CREATE INDEX pushes_repository ON pushes (repository_id, created_at, id)`,
    `DROP INDEX pushes_unfinished`,
    `CREATE INDEX pushes_unfinished ON pushes (created_at, id) WHERE announced_at IS NULL`,
    `CREATE INDEX pushes_settled ON pushes (created_at) WHERE settled_at IS NOT NULL`,
    `DROP INDEX pushes_person`,
    `CREATE INDEX pushes_person ON pushes (user_id, created_at, repository_id, settled_at) WHERE user_id IS NOT NULL AND settled_at IS NOT NULL`,
    `CREATE INDEX pushes_person_repository ON pushes (user_id, repository_id) WHERE user_id IS NOT NULL`,
    // A partial index by push: for pushes without forced updates, the lookup is an index miss.
    `CREATE INDEX push_updates_kept_push ON push_updates (push_id, kept_until) WHERE kept_until IS NOT NULL`,
    `CREATE INDEX mirrors_failing ON mirrors (failures DESC, repository_id) WHERE failures > 0`,

    // CI: rows by scope, the queue, running jobs, and the runs of a repository by their filters.
    ...['ci_secrets', 'ci_variables'].map(
      (table) => `CREATE INDEX ${table}_scope ON ${table} (repository_id, organisation_id, user_id, name)`,
    ),
    ...['ci_runners', 'ci_registration_tokens'].map(
      (table) => `CREATE INDEX ${table}_scope ON ${table} (repository_id, organisation_id, user_id, id)`,
    ),
    `CREATE INDEX ci_jobs_status ON ci_jobs (status, repository_id)`,
    `CREATE INDEX ci_tasks_status ON ci_tasks (status, id)`,
    `DROP INDEX ci_tasks_open`,
    `CREATE INDEX ci_tasks_open ON ci_tasks (stopped_at, id) WHERE sealed_at IS NULL`,
    `CREATE INDEX ci_tasks_logs ON ci_tasks (stopped_at, id) WHERE log_removed_at IS NULL`,
    `CREATE INDEX ci_runs_unfinished ON ci_runs (finished_at, id)`,
    `CREATE INDEX ci_runs_workflow ON ci_runs (repository_id, workflow_path, number)`,
    `CREATE INDEX ci_runs_filtered ON ci_runs (repository_id, number, status, event, workflow_path, ref, actor_id)`,
    `CREATE INDEX ci_artifacts_state ON ci_artifacts (state, expires_at)`,
    `CREATE INDEX ci_artifacts_file ON ci_artifacts (file)`,

    `CREATE INDEX webhook_deliveries_state ON webhook_deliveries (state, id)`,

    // Federation: lists of deliveries, actors and follows.
    `DROP INDEX federation_outbox_public`,
    `CREATE INDEX federation_outbox_public ON federation_outbox (actor_path, is_public, created_at, id)`,
    `CREATE INDEX federation_delivery_state ON federation_delivery (state, id)`,
    `CREATE INDEX federation_delivery_host ON federation_delivery (host, state, id)`,
    `CREATE INDEX federation_delivery_open ON federation_delivery (host, state) WHERE state <> 'DELIVERED'`,
    `CREATE INDEX federation_keys_created ON federation_keys (created_at, ap_path)`,
    `CREATE INDEX repository_followers_recent ON repository_followers (repository_id, created_at, actor_id)`,
    `CREATE INDEX remote_follows_created ON remote_follows (created_at, id)`,
    `CREATE INDEX remote_user_follows_created ON remote_user_follows (created_at, id)`,
  ],
};
