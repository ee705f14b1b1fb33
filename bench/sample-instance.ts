// Data of a large instance: people and repositories by the hundred thousand, and what a few years of use add. Rows are
// inserted in bulk, one statement for each table: existing rows joined with a series of numbers.
import type { Database } from '../src/db/index.ts';
import { fillNames } from './sample-names.ts';

const id = (kind: number, n: string): string =>
  `(printf('%08x', ${kind}) || '-0000-4000-8000-' || printf('%012x', ${n}))`;
const hour = 3_600_000;

const series = (count: number): string =>
  `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${Math.trunc(count)}) `;

/** Spreads a number over rowids: neighbours in the series are far apart in the table. */
const spread = (n: string, count: number, by: number): string => `(${n} * ${by} % ${Math.trunc(count)} + 1)`;

async function run(db: Database, statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    const startedAt = performance.now();
    await db.write(({ manager }) => manager.query(sql));
    if (process.env['VERBOSE']) console.error((performance.now() - startedAt).toFixed(0), sql.slice(0, 150));
  }
}

/**
 * This many people and as many repositories, one in five of them an organisation's, with a hundredth of organisations
 * of twenty members each. To be called before the first start, which makes the search index.
 */
export async function fillOwners(db: Database, count: number): Promise<void> {
  await fillNames(db, count);
  const organisations = Math.max(1, Math.trunc(count / 100));
  await run(db, [
    `${series(organisations)} INSERT INTO organisations (id, name, display_name, description, created_at)
     SELECT ${id(1, 'n')}, 'org' || n, 'Organisation ' || n, 'What organisation ' || n || ' makes.', 1700000000000 + n * ${hour} FROM series`,
    `INSERT INTO handles (folded, display, kind, owner_id) SELECT name, name, 'organisation', id FROM organisations`,
    `${series(organisations * 20)} INSERT OR IGNORE INTO organisation_members (organisation_id, user_id, role, created_at)
     SELECT ${id(1, `(n % ${organisations} + 1)`)}, u.id, CASE n % 5 WHEN 0 THEN 'OWNER' WHEN 1 THEN 'GUEST' ELSE 'MEMBER' END, 1700000000000 + n * 1000
     FROM series JOIN users u ON u.rowid = ${spread('n', count, 7919)}`,
    // Half of the organisations' repositories belong to the first one: an owner with very many repositories.
    `UPDATE repositories SET owner_user_id = NULL, name = name || '-' || rowid, name_folded = name_folded || '-' || rowid,
       owner_org_id = CASE WHEN rowid % 10 = 0 THEN ${id(1, '1')} ELSE ${id(1, `(rowid % ${organisations} + 1)`)} END
     WHERE rowid % 5 = 0`,
    `UPDATE repositories SET size_bytes = rowid * 7919 % 50000000, created_at = 1600000000000 + rowid * 1000000, updated_at = 1700000000000 + rowid * 7919 % ${count} * 100000,
       pushed_at = 1700000000000 + rowid * 7919 % ${count} * 100000`,
    `UPDATE users SET created_at = 1600000000000 + rowid * 1000000, last_seen_at = 1700000000000 + rowid * 7919 % ${count} * 100000`,
    `INSERT INTO repository_languages (repository_id, position, language)
     SELECT id, 0, CASE rowid % 4 WHEN 0 THEN 'TypeScript' WHEN 1 THEN 'Python' WHEN 2 THEN 'Go' ELSE 'C' END FROM repositories`,
    `INSERT INTO sessions (id, user_id, token_hash, created_at, last_seen_at, expires_at)
     SELECT ${id(2, 'rowid')}, id, 'session' || rowid, 1700000000000, 1700000000000, 4000000000000 FROM users`,
    `INSERT INTO access_tokens (id, user_id, name, token_hash, ending, access, created_at)
     SELECT ${id(3, 'rowid')}, id, 'laptop', 'token' || rowid, 'abcd', 'write', 1700000000000 FROM users`,
    `INSERT INTO ssh_keys (id, user_id, title, type, blob_base64, fingerprint, created_at)
     SELECT ${id(4, 'rowid')}, id, 'laptop', 'ssh-ed25519', 'AAAA' || rowid, 'SHA256:' || rowid, 1700000000000 FROM users`,
    // Nothing is due: the repositories have no folders.
    `INSERT INTO language_counts (repository_id, counted_at) SELECT id, 4000000000000 FROM repositories`,
    `${series(count / 20)} INSERT INTO mirrors (repository_id, direction, url, failures, next_at, created_at, updated_at, is_paused)
     SELECT r.id, 'pull', 'https://git.example.org/' || r.name, CASE WHEN n % 50 = 0 THEN 3 ELSE 0 END, 4000000000000, 1700000000000, 1700000000000, 0
     FROM series JOIN repositories r ON r.rowid = ${spread('n', count, 104729)}`,
    `${series(count / 100)} INSERT INTO invites (id, token_hash, created_at, expires_at) SELECT ${id(5, 'n')}, 'invite' || n, 1700000000000 + n, 4000000000000 FROM series`,
    `${series(count)} INSERT INTO audit_log (at, actor, event, details, hash)
     SELECT 1700000000000 + n * 1000, 'system', CASE n % 3 WHEN 0 THEN 'user.added' ELSE 'repository.created' END, '{}', 'hash' || n FROM series`,
  ]);
}

/**
 * The viewers: members of many organisations, with repositories of their own and as collaborators; and activity
 * everywhere, a fifth of it in one repository.
 */
export async function fillActivity(
  db: Database,
  { count, personId, repositoryId }: { count: number; personId: string; repositoryId: string },
): Promise<void> {
  const person = `'${personId}'`;
  const busy = `'${repositoryId}'`;
  const organisations = Math.max(1, Math.trunc(count / 100));
  const events = `series JOIN repositories r ON r.rowid = ${spread('n', count, 7919)}`;
  const target = `CASE WHEN n % 5 = 0 THEN ${busy} ELSE r.id END`;
  const recent = `(strftime('%s', 'now') * 1000 - n * 3000000)`;
  await run(db, [
    `${series(Math.min(500, count))} INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, size_bytes, created_at, updated_at)
     SELECT ${id(6, 'n')}, ${person}, 'own-' || n, 'own-' || n, 'PRIVATE', n, 1650000000000 + n, 1650000000000 + n FROM series`,
    `INSERT OR IGNORE INTO organisation_members (organisation_id, user_id, role, created_at)
     SELECT id, ${person}, CASE WHEN id = ${id(1, '1')} THEN 'OWNER' ELSE 'MEMBER' END, 1700000000000 FROM organisations WHERE rowid % 33 = 0 OR id = ${id(1, '1')}`,
    `${series(200)} INSERT OR IGNORE INTO collaborators (repository_id, user_id, role, created_at)
     SELECT r.id, ${person}, 'write', 1700000000000 FROM series JOIN repositories r ON r.rowid = ${spread('n', count, 65537)}`,
    `${series(500)} INSERT OR IGNORE INTO collaborators (repository_id, user_id, role, created_at)
     SELECT ${busy}, u.id, 'write', 1700000000000 FROM series JOIN users u ON u.rowid = ${spread('n', count, 65537)}`,
    `${series(12)} INSERT OR IGNORE INTO pins (user_id, repository_id, position)
     SELECT ${person}, r.id, n FROM series JOIN repositories r ON r.rowid = ${spread('n', count, 31)} AND r.visibility = 'PUBLIC'`,
    `${series(200)} INSERT INTO repository_transfers (repository_id, new_owner_id, new_owner_kind, offered_by, created_at)
     SELECT r.id, ${id(1, `(n % ${organisations} + 1)`)}, 'organisation', u.id, 1700000000000 FROM series
     JOIN repositories r ON r.rowid = n * 3 + 1 JOIN users u ON u.rowid = 1 WHERE r.owner_user_id IS NOT NULL`,

    `${series(count)} INSERT INTO pushes (id, repository_id, user_id, via, created_at, settled_at, announced_at, moved, first_moves)
     SELECT ${id(7, 'n')}, CASE WHEN n % 7 = 0 THEN ${id(6, `(n % ${Math.min(500, count)} + 1)`)} ELSE ${target} END,
       CASE WHEN n % 7 = 0 OR n % 35 = 10 THEN ${person} ELSE (SELECT id FROM users WHERE rowid = ${spread('n', count, 31)}) END, 'ssh', ${recent}, ${recent}, ${recent}, 1,
       printf('[[0,"refs/heads/main","%040x","%040x"]]', n, n + 1) FROM ${events}`,
    `${series(count)} INSERT INTO push_updates (push_id, position, ref, old_id, new_id, result)
     SELECT ${id(7, 'n')}, 0, 'refs/heads/main', printf('%040x', n), printf('%040x', n + 1), 'ok' FROM series`,

    `INSERT INTO ci_workflow_files (hash, content) VALUES ('hash', 'on: push')`,
    `${series(count)} INSERT INTO ci_runs (id, repository_id, number, workflow_path, workflow_name, file_hash, title, event, event_payload, ref, sha, actor_id, status, created_at, started_at, finished_at)
     SELECT n, ${target}, n, '.github/workflows/' || CASE n % 3 WHEN 0 THEN 'ci' ELSE 'docs' END || '.yml', 'Checks', 'hash', 'Change ' || n, 'push', '{}', 'refs/heads/main', printf('%040x', n), ${person},
       CASE n % 10 WHEN 0 THEN 'failure' ELSE 'success' END, ${recent}, ${recent}, ${recent} FROM ${events}`,
    `INSERT INTO ci_jobs (id, run_id, repository_id, attempt, job_key, position, name, status, created_at, finished_at, task_id)
     SELECT id, id, repository_id, 1, 'build', 0, 'build', status, created_at, created_at, id FROM ci_runs`,
    `INSERT INTO ci_tasks (id, job_id, runner_name, token_hash, status, created_at, stopped_at, sealed_at)
     SELECT id, id, 'runner', 'task' || id, status, created_at, created_at, created_at FROM ci_runs`,
    `INSERT INTO ci_steps (task_id, position, name, status) SELECT id, 0, 'Check out', 'success' FROM ci_tasks`,
    `INSERT INTO ci_run_numbers (repository_id, last) VALUES (${busy}, ${count + 1})`,
    `INSERT INTO commit_statuses (repository_id, sha, context, state, created_at, updated_at)
     SELECT repository_id, sha, 'Checks / build', status, created_at, created_at FROM ci_runs`,
    `${series(count / 50)} INSERT INTO ci_artifacts (run_id, attempt, task_id, name, form, file, state, created_at, expires_at)
     SELECT n * 5, 1, n * 5, 'site', 'zip', 'site' || n, 'ready', 1700000000000, 4000000000000 FROM series`,
    `${series(100)} INSERT INTO ci_runners (uuid, token_salt, token_hash, name, created_at, last_seen_at)
     SELECT ${id(8, 'n')}, 'salt', 'hash', 'runner' || n, 1700000000000, strftime('%s', 'now') * 1000 FROM series`,

    `${series(200)} INSERT INTO webhooks (id, repository_id, url, events, created_at, updated_at)
     SELECT ${id(9, 'n')}, CASE WHEN n <= 20 THEN ${busy} ELSE (SELECT id FROM repositories WHERE rowid = n) END, 'https://hooks.example.org/' || n, '["push"]', 1700000000000, 1700000000000 FROM series`,
    `${series(count)} INSERT INTO outbox (kind, key, state, attempts, next_at, created_at)
     SELECT 'webhook', ${id(9, '(n % 200 + 1)')}, CASE WHEN n % 20 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, 1, 0, ${recent} FROM series`,
    `INSERT INTO webhook_messages (id, uuid, webhook_id, event, tried_at, took_ms, status)
     SELECT id, ${id(10, 'id')}, key, 'push', created_at, 12, 200 FROM outbox`,

    `${series(count)} INSERT INTO federation_outbox (id, actor_path, repository_id, type, is_public, activity, created_at)
     SELECT ${id(11, 'n')}, CASE WHEN n % 5 = 0 THEN '/ap/repos/alice/bench' ELSE '/ap/repos/somebody/repository' || n END, NULL, 'Push', 1, '{"type":"Push"}', ${recent} FROM series`,
    `${series(count)} INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, attempts, last_error, next_attempt_at, created_at, settled_at)
     SELECT ${id(11, 'n')}, 'https://peer' || (n % 100) || '.example.org/inbox', 'peer' || (n % 100) || '.example.org',
       CASE n % 20 WHEN 0 THEN 'FAILED' WHEN 1 THEN 'PENDING' ELSE 'DELIVERED' END, 1, NULL, 4000000000000, ${recent}, CASE WHEN n % 20 = 1 THEN NULL ELSE ${recent} END FROM series`,
    `${series(100)} INSERT INTO federation_peers (host, last_success_at) SELECT 'peer' || n || '.example.org', 1700000000000 FROM series`,
    `${series(count / 10)} INSERT INTO remote_actors (id, host, type, name, handle, inbox, key_id, public_key_pem, fetched_at)
     SELECT 'https://peer' || (n % 100) || '.example.org/ap/users/u' || n, 'peer' || (n % 100) || '.example.org', 'Person', 'u' || n, 'u' || n || '@peer' || (n % 100) || '.example.org', 'https://peer/inbox', 'key' || n, 'pem', 1700000000000 FROM series`,
    `${series(count / 10)} INSERT INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at)
     SELECT ${target}, 'https://peer' || (n % 100) || '.example.org/ap/users/u' || n, 'https://peer/inbox', 'peer' || (n % 100) || '.example.org', 'follow' || n, 1700000000000 + n FROM ${events}`,
    `${series(count / 10)} INSERT INTO remote_follows (id, user_id, remote_actor_id, remote_inbox, host, handle, follow_id, state, created_at, accepted_at)
     SELECT ${id(12, 'n')}, CASE WHEN n <= 200 THEN ${person} ELSE (SELECT id FROM users WHERE rowid = n) END, 'https://peer' || (n % 100) || '.example.org/ap/repos/a/r' || n, 'https://peer/inbox', 'peer' || (n % 100) || '.example.org', 'a/r' || n, 'f' || n, 'ACCEPTED', 1700000000000 + n, 1700000000000 FROM series`,
    `${series(count / 2)} INSERT INTO received_pushes (id, actor_id, activity_id, branch, commit_count, commits, pushed_at, received_at)
     SELECT ${id(13, 'n')}, 'https://peer' || (n % 1000 % 100) || '.example.org/ap/repos/a/r' || (n % 1000), 'activity' || n, 'main', 1, '[]', ${recent}, ${recent} FROM series`,
  ]);
}

/** What people have with repositories, people and packages; after `fillActivity`, for the lists of the API. */
export async function fillBonds(
  db: Database,
  { count, personId, repositoryId }: { count: number; personId: string; repositoryId: string },
): Promise<void> {
  const person = `'${personId}'`;
  const busy = `'${repositoryId}'`;
  const tenth = Math.max(1, Math.trunc(count / 10));
  const people = `series JOIN users u ON u.rowid = ${spread('n', count, 7919)}`;
  const repositories = `series JOIN repositories r ON r.rowid = ${spread('n', count, 7919)}`;
  const team = id(14, '1');
  await run(db, [
    `${series(tenth)} INSERT OR IGNORE INTO stars (user_id, repository_id, created_at) SELECT u.id, ${busy}, 1700000000000 + n FROM ${people}`,
    `${series(tenth)} INSERT OR IGNORE INTO stars (user_id, repository_id, created_at) SELECT ${person}, r.id, 1700000000000 + n FROM ${repositories}`,
    `${series(tenth)} INSERT OR IGNORE INTO watches (user_id, repository_id, level, created_at) SELECT u.id, ${busy}, 'everything', 1700000000000 + n FROM ${people}`,
    `${series(tenth)} INSERT OR IGNORE INTO watches (user_id, repository_id, level, created_at) SELECT ${person}, r.id, 'everything', 1700000000000 + n FROM ${repositories}`,
    `${series(tenth)} INSERT OR IGNORE INTO user_follows (follower_id, followed_id, created_at) SELECT u.id, ${person}, 1700000000000 + n FROM ${people} WHERE u.id <> ${person}`,
    `${series(tenth)} INSERT OR IGNORE INTO user_follows (follower_id, followed_id, created_at) SELECT ${person}, u.id, 1700000000000 + n FROM ${people} WHERE u.id <> ${person}`,
    `INSERT INTO notifications (user_id, subject, repository_id, issue_id, reason, first_position, last_position, listed_at)
     SELECT ${person}, 'issue:' || id, repository_id, id, 'watching', 0, 0, created_at FROM issues ORDER BY id LIMIT ${tenth}`,
    `INSERT INTO tracked_times (issue_id, repository_id, user_id, seconds, created_at)
     SELECT id, repository_id, ${person}, 60, created_at FROM issues ORDER BY id LIMIT ${tenth}`,
    `${series(count / 100)} INSERT INTO releases (id, repository_id, tag, target, tag_message, title, body, is_draft, is_prerelease, author_id, revision, created_at, updated_at, published_at, listed_at)
     SELECT ${id(15, 'n')}, ${busy}, 'v1.' || n, 'main', '', 'Release ' || n, 'Notes', 0, 0, ${person}, 1, 1700000000000 + n, 1700000000000, 1700000000000, 1700000000000 + n FROM series`,
    `${series(count / 50)} INSERT INTO packages (id, owner_id, owner_kind, format, name, name_key, repository_id, visibility, versions, created_at, updated_at)
     SELECT ${id(16, 'n')}, ${person}, 'user', 'generic', 'package-' || n, 'package-' || n, ${busy}, 'PUBLIC', 5, 1700000000000, 1700000000000 + n FROM series`,
    `${series(count / 10)} INSERT INTO package_versions (id, package_id, version, version_key, metadata, bytes, publisher_id, created_at, updated_at)
     SELECT ${id(17, 'n')}, ${id(16, `((n - 1) / 5 + 1)`)}, '1.' || n, '1.' || n, '{}', 1000, ${person}, 1700000000000 + n, 1700000000000 + n FROM series`,
    `INSERT INTO repository_topics (repository_id, topic, created_at) SELECT id, 'topic-' || (rowid % 5000), 1700000000000 FROM repositories`,
    `INSERT INTO teams (id, organisation_id, name, name_folded, role, created_at) SELECT ${team}, ${id(1, '1')}, 'makers', 'makers', 'write', 1700000000000`,
    `INSERT INTO team_members (team_id, user_id, created_at) SELECT ${team}, user_id, 1700000000000 FROM organisation_members WHERE organisation_id = ${id(1, '1')}`,
    `INSERT INTO team_repositories (team_id, repository_id, role, created_at) SELECT ${team}, id, 'write', 1700000000000 FROM repositories WHERE owner_org_id = ${id(1, '1')} LIMIT 2000`,
    `INSERT OR IGNORE INTO organisation_members (organisation_id, user_id, role, created_at) SELECT ${id(1, '1')}, id, 'MEMBER', 1700000000000 FROM users WHERE rowid % 50 = 0`,
  ]);
}
