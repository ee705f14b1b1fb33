// time limit: 180 s
// Every fault that the doctor knows is planted into an instance and found; a clean instance has none.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { attachmentMarkdown } from '../../src/issues/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { sampleImages } from '../images/sample-images.ts';

// As the program does at its start.
const umask = process.umask(0o077);
t.teardown(() => process.umask(umask));
const run = promisify(execFile);
const png = sampleImages['image/png'];

const hearth = await startHearth(t);
const { dataDir } = hearth.config;
const alice = await hearth.addPerson('alice');
await hearth.addPerson('bob');
await hearth.modules.accounts.setAdministrator(alice.id, true);

/** Repositories for faults that must not be combined. */
const folders: Record<string, { id: string; path: string; tip: string }> = {};
for (const name of [
  'empty-ref',
  'empty-packed',
  'empty-unknown',
  'empty-gone',
  'damaged',
  'head',
  'branch',
  'missing',
  'lock',
  'hook',
  'image',
  'bad-image',
  'pulls',
])
  folders[name] = await makeRepository(hearth, name);

async function makeRepository({ url, folder, modules }: Hearth, name: string) {
  await modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
  const work = path.join(folder, `work-${name}`);
  mkdirSync(work);
  // Asynchronous: the server that is pushed to runs in this process.
  const git = async (...args: string[]) =>
    (await run('git', args, { cwd: work, env: clientEnvironment })).stdout.trim();
  await git('init', '--quiet', '--initial-branch=main');
  writeFileSync(path.join(work, 'a'), name);
  await git('add', '.');
  await git('-c', 'user.name=alice', '-c', 'user.email=alice@example.org', 'commit', '--quiet', '-m', 'first');
  await git('push', '--quiet', `${url.replace('://', `://alice:${alice.token}@`)}/git/alice/${name}.git`, 'HEAD:main');
  const found = await modules.repositories.find(localAdministrator, 'alice', name);
  return { id: found.repository.id, path: found.path, tip: await git('rev-parse', 'HEAD') };
}
for (const name of ['image', 'bad-image']) {
  await hearth.modules.repositories.images.replace(localAdministrator, 'alice', name, {
    bytes: png,
    declaredType: 'image/png',
  });
}
const at1 = { owner: 'alice', name: 'head' };
const author = { ...localAdministrator, via: 'session', id: alice.id, username: 'alice' } as typeof localAdministrator;
const attach = async (text: string) =>
  hearth.modules.issues.addAttachment(author, at1, {
    name: `${text}.txt`,
    content: (async function* () {
      yield Buffer.from(text);
    })(),
  });
const attachments = {
  missing: await attach('missing'),
  damaged: await attach('damaged'),
  sound: await attach('sound'),
};
const objectOf = (id: string): string => path.join(dataDir, 'objects', 'attachments', id.slice(0, 2), id);
await hearth.modules.issues.open(author, at1, {
  title: 'Files',
  body: Object.values(attachments)
    .map((file) => attachmentMarkdown(file, at1))
    .join(' '),
});
await hearth.modules.issues.comment(author, { ...at1, number: 1 }, { body: 'parked' });
for (const branch of ['one', 'two']) {
  await hearth.modules.repositories.branches.create(localAdministrator, 'alice', 'pulls', {
    name: branch,
    from: 'main',
  });
  const { path: bare, tip } = folders['pulls']!;
  const git = async (...words: string[]) =>
    (await run('git', [`--git-dir=${bare}`, ...words], { env: clientEnvironment })).stdout.trim();
  const identity = ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org'];
  const commit = await git(...identity, 'commit-tree', '-p', tip, '-m', branch, `${tip}^{tree}`);
  await git('update-ref', `refs/heads/${branch}`, commit);
  const wanted = { title: branch, body: '', head: branch };
  await hearth.modules.pulls.open(author, { owner: 'alice', name: 'pulls' }, wanted);
}
await hearth.modules.backups.create();
await hearth.modules.audit.flush();

interface Report {
  problems: number;
  warnings: number;
  findings: { check: string; level: string; fixed: string | null; remedy: string | null }[];
}

/** The statements so far; `doctor` waits for them. */
let planted: Promise<void> = Promise.resolve();

async function doctor(...words: string[]): Promise<Report & { code: number }> {
  await planted;
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...words], {
    env: { SERVICE_DATA_DIR: dataDir, ...settings },
  });
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Report) };
}
const settings: Record<string, string> = { SERVICE_HTTP_LISTEN: '127.0.0.1:3000' };
const long = new Date(Date.now() - 3 * 86_400_000);
const age = (file: string): void => utimesSync(file, long, long);

t.test('a clean instance has no results', async (t) => {
  // What is kept for an undo is no fault.
  sql(
    `UPDATE push_updates SET kept_until = ${Date.now() + 86_400_000} WHERE push_id IN (SELECT id FROM pushes WHERE repository_id = '${folders['head']!.id}')`,
  );
  const { code, problems, warnings, findings } = await doctor();
  t.strictSame({ code, problems, warnings, findings }, { code: 0, problems: 0, warnings: 0, findings: [] });
});

t.test('a base URL is asked for where others can reach the server', async (t) => {
  const checksWith = async (more: Record<string, string>) => {
    const before = { ...settings };
    Object.assign(settings, more);
    const { findings } = await doctor('--only', 'settings');
    for (const name of Object.keys(more)) delete settings[name];
    Object.assign(settings, before);
    return findings.map(({ check }) => check);
  };
  t.same(await checksWith({ SERVICE_HTTP_LISTEN: '0.0.0.0:3000' }), ['settings.no_base_url']);
  t.same(await checksWith({ SERVICE_HTTP_LISTEN: '[::1]:3000' }), []);
  const SERVICE_BASE_URL = 'https://git.example.org';
  t.same(await checksWith({ SERVICE_HTTP_LISTEN: '0.0.0.0:3000', SERVICE_BASE_URL }), []);
});

/**
 * With a connection of its own, like a tool that edits the file. It never blocks on a lock: a write of the server,
 * which runs in this process, could not end meanwhile.
 */
function sql(...statements: string[]): void {
  planted = planted.then(async () => {
    const database = new DatabaseSync(path.join(dataDir, 'hearth.db'), {
      enableForeignKeyConstraints: false,
      timeout: 0,
    });
    for (const statement of statements) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          database.exec(statement);
          break;
        } catch (error) {
          if ((error as { errcode?: number }).errcode !== 5 || attempt === 600) throw error;
          await sleep(50);
        }
      }
    }
    database.close();
  });
}
const at = (name: string, ...rest: string[]): string => path.join(folders[name]!.path, ...rest);
/** A loose ref without a value, as after a power failure; the packed one, if there is one, stays. */
function emptyRef(name: string, ref: string): void {
  mkdirSync(path.dirname(at(name, ref)), { recursive: true });
  writeFileSync(at(name, ref), '');
}
const pushesOf = (name: string): string => `SELECT id FROM pushes WHERE repository_id = '${folders[name]!.id}'`;
const uuid = '00000000-0000-4000-8000-000000000000';

const seeded: [check: string, seed: () => void][] = [
  ['settings.plain_http', () => (settings['SERVICE_BASE_URL'] = 'http://git.example.org')],
  [
    'settings.federation',
    () =>
      Object.assign(settings, { SERVICE_FEDERATION_ENABLED: 'true', SERVICE_FEDERATION_BASE_URL: 'https://localhost' }),
  ],
  ['storage.full', () => (settings['SERVICE_STORAGE_LOW_DISK_FLOOR'] = '1TiB')],
  ['storage.open_folder', () => chmodSync(dataDir, 0o705)],
  ['ssh.key_mode', () => chmodSync(path.join(dataDir, 'ssh', 'host_ed25519'), 0o644)],
  [
    'storage.old_temporary',
    () => {
      mkdirSync(path.join(dataDir, 'tmp', 'drill-x'), { recursive: true });
      age(path.join(dataDir, 'tmp', 'drill-x'));
    },
  ],
  [
    'backup.unfinished',
    () => {
      mkdirSync(path.join(dataDir, 'backups', '.unfinished-x'));
      age(path.join(dataDir, 'backups', '.unfinished-x'));
    },
  ],
  ['clock.behind', () => sql(`UPDATE sessions SET last_seen_at = ${Date.now() + 86_400_000}`)],
  ['database.mode', () => chmodSync(path.join(dataDir, 'hearth.db'), 0o644)],
  [
    'database.foreign_keys',
    () =>
      sql(
        `INSERT INTO ssh_keys (id, user_id, title, type, blob_base64, fingerprint, created_at) VALUES ('k', '${uuid}', 't', 'ssh-ed25519', 'A', 'SHA256:x', 1)`,
      ),
  ],
  [
    'people.ownerless_organisation',
    () => sql(`INSERT INTO organisations (id, name, created_at) VALUES ('${uuid}', 'empty', 1)`),
  ],
  [
    'people.dangling_handle',
    () => sql("INSERT INTO handles (folded, display, kind, owner_id) VALUES ('ghost', 'ghost', 'user', 'nobody')"),
  ],
  ['people.no_administrator', () => sql('UPDATE users SET is_administrator = 0')],
  ['clock.behind', () => sql(`UPDATE repositories SET created_at = ${Date.now() + 86_400_000} WHERE name = 'hook'`)],
  ['repositories.missing', () => rmSync(at('missing'), { recursive: true })],
  [
    'repositories.orphan',
    () => {
      mkdirSync(path.join(dataDir, 'repositories', uuid, `${uuid}.git`), { recursive: true });
      age(path.join(dataDir, 'repositories', uuid, `${uuid}.git`));
    },
  ],
  [
    'repositories.stale_lock',
    () => {
      mkdirSync(at('lock', 'refs/heads'), { recursive: true });
      writeFileSync(at('lock', 'refs/heads/main.lock'), '');
      age(at('lock', 'refs/heads/main.lock'));
    },
  ],
  [
    'repositories.unfinished_objects',
    () => {
      mkdirSync(at('hook', 'objects/tmp_objdir-incoming-x'));
      age(at('hook', 'objects/tmp_objdir-incoming-x'));
    },
  ],
  [
    'repositories.empty_ref',
    () => {
      // Cases: only the journal has the value; the journal is newer than the packed refs; only the packed refs have it;
      // the ref was deleted.
      rmSync(at('empty-ref', 'packed-refs'), { force: true });
      writeFileSync(
        at('empty-packed', 'packed-refs'),
        `# pack-refs with: peeled fully-peeled sorted \n${'1'.repeat(40)} refs/heads/main\n`,
      );
      writeFileSync(
        at('empty-unknown', 'packed-refs'),
        `# pack-refs with: peeled fully-peeled sorted \n${folders['empty-unknown']!.tip} refs/heads/main\n`,
      );
      sql(`DELETE FROM pushes WHERE id IN (${pushesOf('empty-unknown')})`);
      sql(
        `INSERT INTO pushes (id, repository_id, via, created_at) VALUES ('gone', '${folders['empty-gone']!.id}', 'ssh', ${Date.now()})`,
      );
      sql(`UPDATE pushes SET settled_at = 1, announced_at = 1 WHERE id = 'gone'`);
      sql(
        `INSERT INTO push_updates (push_id, position, ref, old_id, new_id, result) VALUES ('gone', 0, 'refs/heads/topic', '${folders['empty-gone']!.tip}', '${'0'.repeat(40)}', 'ok')`,
      );
      for (const name of ['empty-ref', 'empty-packed', 'empty-unknown']) emptyRef(name, 'refs/heads/main');
      emptyRef('empty-gone', 'refs/heads/topic');
    },
  ],
  ['repositories.head', () => writeFileSync(at('head', 'HEAD'), '')],
  ['repositories.default_branch', () => writeFileSync(at('branch', 'HEAD'), 'ref: refs/heads/other\n')],
  [
    'repositories.hooks',
    () => {
      mkdirSync(at('hook', 'hooks'), { recursive: true });
      writeFileSync(at('hook', 'hooks/post-receive'), '#!/bin/sh\n');
    },
  ],
  [
    'repositories.damaged',
    () => {
      rmSync(at('damaged', 'objects'), { recursive: true });
      mkdirSync(at('damaged', 'objects'));
    },
  ],
  [
    'images.orphan',
    () => {
      writeFileSync(path.join(dataDir, 'repo-images', uuid), png);
      age(path.join(dataDir, 'repo-images', uuid));
    },
  ],
  [
    'images.half_written',
    () => {
      writeFileSync(path.join(dataDir, 'repo-images', `.${uuid}.0123456789abcdef`), 'x');
      age(path.join(dataDir, 'repo-images', `.${uuid}.0123456789abcdef`));
    },
  ],
  ['images.missing', () => rmSync(path.join(dataDir, 'repo-images', folders['image']!.id))],
  ['images.damaged', () => writeFileSync(path.join(dataDir, 'repo-images', folders['bad-image']!.id), 'half')],
  ['issues.counts', () => sql('UPDATE issue_numbers SET open_issues = 7, last = 0')],
  ['pulls.columns', () => sql("UPDATE pulls SET last_round = 7, is_open = 0 WHERE head_branch = 'one'")],
  ['pulls.commits', () => sql('DELETE FROM pull_commits')],
  [
    'pulls.refs',
    () => {
      rmSync(at('pulls', 'refs/pull/1/head'));
      rmSync(at('pulls', 'refs/hearth/rounds'), { recursive: true });
    },
  ],
  [
    'pulls.objects',
    () =>
      sql(
        `INSERT INTO pull_rounds (issue_id, round, head_oid, base_oid, commit_count, change, created_at)
         SELECT issue_id, 2, '${'f'.repeat(40)}', base_oid, 0, 'added', 1 FROM pulls WHERE head_branch = 'two'`,
      ),
  ],
  ['notifications.counts', () => sql('UPDATE watch_counts SET watching = watching + 3')],
  ['issues.unannounced', () => sql('UPDATE issue_entries SET announced_at = NULL, created_at = 1 WHERE position = 0')],
  [
    'issues.parked',
    () =>
      sql(
        "UPDATE issue_entries SET announced_at = NULL, attempts = 3, last_error = 'webhooks: broken', parked_at = 2 WHERE position = 1",
      ),
  ],
  ['issues.file_missing', () => rmSync(objectOf(attachments.missing.id))],
  ['issues.file_damaged', () => writeFileSync(objectOf(attachments.damaged.id), 'DAMAGED')],
  [
    'issues.file_orphan',
    () => {
      mkdirSync(path.dirname(objectOf(uuid)), { recursive: true });
      writeFileSync(objectOf(uuid), 'x');
      age(objectOf(uuid));
    },
  ],
  [
    'issues.file_half_written',
    () => {
      mkdirSync(path.join(dataDir, 'objects', '.incoming'), { recursive: true });
      writeFileSync(path.join(dataDir, 'objects', '.incoming', '0123'), 'x');
      age(path.join(dataDir, 'objects', '.incoming', '0123'));
    },
  ],
  [
    'ci.key_mode',
    () => {
      writeFileSync(path.join(dataDir, 'ci', 'secret.key'), Buffer.alloc(32));
      chmodSync(path.join(dataDir, 'ci', 'secret.key'), 0o640);
    },
  ],
  [
    'ci.artifact_missing',
    () =>
      sql(
        "INSERT INTO ci_workflow_files (hash, content) VALUES ('f', '')",
        `INSERT INTO ci_runs (id, repository_id, number, workflow_path, workflow_name, file_hash, title, event, event_payload, ref, sha, attempt, status, created_at, finished_at) VALUES (7, '${folders['hook']!.id}', 1, 'ci.yml', 'CI', 'f', 'x', 'push', '{}', 'refs/heads/main', '1', 1, 'success', 1, 1)`,
        "INSERT INTO ci_artifacts (id, run_id, attempt, task_id, name, form, file, state, created_at, expires_at) VALUES (5, 7, 1, 9, 'site', 'zip', '0/5.zip', 'ready', 1, 9e15)",
      ),
  ],
  [
    'ci.log_missing',
    () =>
      sql(
        `INSERT INTO ci_jobs (id, run_id, repository_id, attempt, job_key, position, name, status, task_id, created_at) VALUES (8, 7, '${folders['hook']!.id}', 1, 'build', 0, 'build', 'success', 9, 1)`,
        "INSERT INTO ci_tasks (id, job_id, runner_name, token_hash, status, created_at, stopped_at, sealed_at, log_rows) VALUES (9, 8, 'b', 'h', 'success', 1, 1, 1, 3)",
        // A sound one with its index, beside it.
        "INSERT INTO ci_tasks (id, job_id, runner_name, token_hash, status, created_at, stopped_at, sealed_at, log_rows, log_bytes) VALUES (10, 8, 'b', 'i', 'success', 1, 1, 1, 1, 1)",
      ),
  ],
  [
    'ci.artifact_orphan',
    () => {
      mkdirSync(path.join(dataDir, 'ci', 'artifacts', '0'), { recursive: true });
      writeFileSync(path.join(dataDir, 'ci', 'artifacts', '0', '77.zip'), 'x');
      age(path.join(dataDir, 'ci', 'artifacts', '0', '77.zip'));
    },
  ],
  [
    'ci.log_orphan',
    () => {
      mkdirSync(path.join(dataDir, 'ci', 'logs', '0'), { recursive: true });
      for (const name of ['77.log', '77.idx', '10.log', '10.idx']) {
        writeFileSync(path.join(dataDir, 'ci', 'logs', '0', name), 'x');
        age(path.join(dataDir, 'ci', 'logs', '0', name));
      }
    },
  ],
  [
    'queues.unsettled_push',
    () =>
      sql(`INSERT INTO pushes (id, repository_id, via, created_at) VALUES ('p', '${folders['lock']!.id}', 'ssh', 1)`),
  ],
  [
    'queues.parked_push',
    () =>
      sql(
        `INSERT INTO pushes (id, repository_id, via, created_at, settled_at, attempts, last_error, parked_at) VALUES ('parked', '${folders['lock']!.id}', 'ssh', 1, 1, 3, 'ci: broken', 2)`,
      ),
  ],
  [
    'queues.overdue_trash',
    () =>
      sql(
        "UPDATE repositories SET deleted_at = 1 WHERE name = 'lock'",
        "UPDATE repositories SET deleted_at = NULL WHERE name = 'lock'",
        `INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at, deleted_at) VALUES ('${uuid}', '${alice.id}', 'old', 'old', 'PUBLIC', 1, 1, 1)`,
      ),
  ],
  [
    'queues.stuck_delivery',
    () =>
      sql(
        "INSERT INTO federation_outbox (id, actor_path, type, is_public, activity, created_at) VALUES ('o', '/', 'Push', 1, '{}', 1)",
        "INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, next_attempt_at, created_at) VALUES ('o', 'x', 'other.example', 'PENDING', 1, 1)",
      ),
  ],
  [
    'queues.stuck_message',
    () => sql("INSERT INTO outbox (kind, key, state, next_at, created_at) VALUES ('mail', 'alice', 'PENDING', 1, 1)"),
  ],
  [
    'queues.stuck_webhook',
    () =>
      sql(
        `INSERT INTO webhooks (id, repository_id, url, events, created_at, updated_at) VALUES ('w', '${folders['hook']!.id}', 'https://hooks.example.org/', '["push"]', 1, 1)`,
        // Leased, so that the server of this test does not send it meanwhile.
        "INSERT INTO outbox (id, kind, key, state, next_at, lease_until, created_at) VALUES (1000, 'webhook', 'w', 'PENDING', 1, 9e15, 1)",
        "INSERT INTO webhook_messages (id, uuid, webhook_id, event) VALUES (1000, 'd', 'w', 'push')",
      ),
  ],
  [
    'queues.overdue_old_tips',
    () => sql(`UPDATE push_updates SET kept_until = 1 WHERE push_id IN (${pushesOf('head')})`),
  ],
  [
    'queues.failed_delivery',
    () =>
      sql(
        `INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, last_error, next_attempt_at, created_at, settled_at) VALUES ('o', 'x', 'third.example', 'FAILED', 'gone', 1, 1, ${Date.now()})`,
      ),
  ],
  ['queues.failing_job', () => sql("INSERT OR REPLACE INTO job_runs VALUES ('trash.empty', 1, 1, 'disk full', 3)")],
  [
    'backup.damaged',
    () => {
      const [name] = readdirSync(path.join(dataDir, 'backups')).filter((each) => /^\d/.test(each));
      writeFileSync(
        path.join(dataDir, 'backups', name!, 'proof.json'),
        JSON.stringify({ at: new Date().toISOString(), proven: 0, total: 1, problems: ['x has changed'] }),
      );
    },
  ],
  // As accounts of an earlier program may be called.
  ['names.reserved', () => sql("UPDATE handles SET folded = 'v2', display = 'V2' WHERE folded = 'bob'")],
  ['database.usage', () => sql('UPDATE owner_usage SET git_bytes = git_bytes + 1')],
  ['database.counts', () => sql("UPDATE counts SET value = value + 3 WHERE name IN ('people', 'repositories')")],
  ['audit.broken', () => sql('DELETE FROM audit_log WHERE id = 1')],
];

t.test(`all of ${seeded.length} planted faults are found, and nothing else`, async (t) => {
  for (const [, seed] of seeded) seed();
  const { code, findings } = await doctor();
  t.equal(code, 7);
  const found = new Set(findings.map(({ check }) => check));
  for (const [check] of seeded) t.ok(found.has(check), check);
  // One planted fault can imply another: a row without its folder, no administrator in an empty organisation.
  t.same(
    [...found].filter((check) => !seeded.some(([known]) => known === check)),
    [],
  );
  for (const { check, remedy } of findings) t.ok(remedy, `${check} says what to do`);
});

t.test('--fix repairs what can be repaired without losing data, and only that', async (t) => {
  const { findings } = await doctor('--fix');
  const cured = [
    ...new Set(
      findings.filter(({ fixed }) => fixed !== null && !fixed.startsWith('could not')).map(({ check }) => check),
    ),
  ];
  t.same(cured.sort(), [
    'backup.unfinished',
    'ci.artifact_missing',
    'ci.artifact_orphan',
    'ci.key_mode',
    'ci.log_missing',
    'ci.log_orphan',
    'database.counts',
    'database.usage',
    'images.half_written',
    'images.missing',
    'images.orphan',
    'issues.counts',
    'issues.file_half_written',
    'issues.file_orphan',
    'issues.parked',
    'notifications.counts',
    'pulls.columns',
    'pulls.commits',
    'pulls.refs',
    'repositories.default_branch',
    'repositories.empty_ref',
    'repositories.head',
    'repositories.orphan',
    'repositories.stale_lock',
    'repositories.unfinished_objects',
    'ssh.key_mode',
    'storage.old_temporary',
    'storage.open_folder',
  ]);
  const left = new Set((await doctor()).findings.map(({ check }) => check));
  t.same(
    cured.filter((check) => left.has(check)),
    [],
    'what was cured is well',
  );
  for (const name of ['empty-ref', 'empty-packed', 'empty-unknown']) {
    t.equal(
      (await hearth.modules.git.refs.list(folders[name]!.path)).get('refs/heads/main'),
      folders[name]!.tip,
      `${name}: the ref has its last value again`,
    );
  }
  const { stdout } = await run('git', ['ls-remote', `${hearth.url}/git/alice/empty-gone.git`], {
    env: clientEnvironment,
  });
  t.match(stdout, 'refs/heads/main', "a ref that was deleted is in nobody's way");
  t.notMatch(stdout, 'refs/heads/topic');
  t.equal((await hearth.modules.issues.open(author, at1, { title: 'Two' })).number, 2, 'no number is given out twice');
  const opened = await hearth.modules.objects.get(
    `attachments/${attachments.sound.id.slice(0, 2)}/${attachments.sound.id}`,
  );
  opened?.stream.destroy();
  t.equal(opened?.bytes, 5, 'what is sound stays');
  t.strictSame(readdirSync(path.join(dataDir, 'ci', 'logs', '0')).sort(), ['10.idx', '10.log'], 'a log and its index');
  t.ok(readdirSync(path.join(dataDir, 'lost-and-found')).length > 0, 'an orphan is kept aside');
});

t.test('an instance that cannot be opened is reported', async (t) => {
  const { code, findings } = await doctor('--data-dir', path.join(hearth.folder, 'nowhere'));
  t.equal(code, 7);
  t.match(findings, [{ check: 'start.no_data_dir' }]);
});

t.test('a damaged database is reported, with what helps', async (t) => {
  await hearth.stop();
  const file = path.join(dataDir, 'hearth.db');
  const database = new DatabaseSync(file);
  const pageOf = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?');
  const pages = ['pins_repository', 'release_files'].map((name) => (pageOf.get(name) as { rootpage: number }).rootpage);
  database.close();
  const handle = openSync(file, 'r+');
  for (const page of pages) writeSync(handle, Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096);
  closeSync(handle);
  for (const [area, found] of [
    ['database', ['database.integrity', 'database.unreadable']],
    ['releases', ['releases.unreadable']],
  ] as const) {
    const { findings } = await doctor('--only', area);
    const damage = (findings as { check: string; remedy: string | null }[]).filter(({ check }) =>
      (found as readonly string[]).includes(check),
    );
    t.ok(damage.length > 0, JSON.stringify(findings));
    for (const { check, remedy } of damage) t.match(remedy, /stop the server.*hearth restore/, check);
  }
});
