import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { parse as parseYaml } from 'yaml';
import { removeRuntimeState, writeRuntimeState } from '../../src/cli/serving/runtime-state.ts';
import { systemdUnit } from '../../src/cli/serving/systemd-unit.ts';
import { progressLine, showProgress } from '../../src/cli/terminal/progress.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
const hearth = (line: string) => runCli(line.split(' '), { cwd: folder, env: { SERVICE_DATA_DIR: dataDir } });

t.test('init creates a working settings file, and never overwrites one', async (t) => {
  const made = await runCli(['init', '--config', 'etc/hearth.toml'], {
    cwd: folder,
    env: { SERVICE_DATA_DIR: dataDir },
  });
  t.equal(made.code, 0, made.stderr);
  t.equal(made.stdout, `${folder}/etc/hearth.toml\n${dataDir}\n${dataDir}/ssh/host_ed25519\n`);
  const shown = await hearth('ssh hostkey show');
  t.match(made.stderr, shown.stdout.split('\n')[0]!, 'the fingerprint is there before the first start');
  t.match(made.stderr, /systemctl daemon-reload/);
  t.match(await runCli(['config', 'check', '--config', 'etc/hearth.toml'], { cwd: folder }), {
    code: 0,
    stdout: 'ok\n',
  });
  t.match(readFileSync(path.join(folder, 'etc/hearth.toml'), 'utf8'), `data_dir = "${dataDir}"`);
  t.equal(
    (await runCli(['init', '--config', 'etc/hearth.toml'], { cwd: folder, env: { SERVICE_DATA_DIR: dataDir } })).code,
    4,
  );
  const named = { SERVICE_DATA_DIR: dataDir, SERVICE_CONFIG: path.join(folder, 'named/hearth.toml') };
  t.match(await runCli(['init'], { cwd: folder, env: named }), {
    code: 0,
    stdout: new RegExp(`^${folder}/named/hearth.toml\n`),
  });
  t.match(
    await runCli(['init', '--config', 'flag.toml'], {
      cwd: folder,
      env: { ...named, SERVICE_CONFIG: path.join(folder, 'absent.toml') },
    }),
    { code: 0, stdout: new RegExp(`^${folder}/flag.toml\n`) },
    'the flag counts more',
  );
  t.match(await runCli(['init', '--config', 'etc/other.toml', '--user', 'hearth'], { cwd: folder }), {
    code: 2,
    stderr: /requires root privileges/,
  });
  t.equal(
    (await hearth('init --unit')).stdout,
    readFileSync(new URL('../../packaging/hearth.service', import.meta.url), 'utf8'),
  );
  t.match(systemdUnit('/opt/hearth'), 'ExecStart=/opt/hearth serve');
  const packaging = (name: string) => readFileSync(new URL(`../../packaging/${name}`, import.meta.url), 'utf8');
  for (const [words, name] of [
    ['--proxy caddy', 'Caddyfile'],
    ['--proxy nginx', 'nginx.conf'],
    ['--proxy traefik', 'traefik.yml'],
    ['--container', 'Containerfile'],
  ] as const) {
    t.equal((await hearth(`init ${words}`)).stdout, packaging(name), name);
  }
  const elsewhere = {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_BASE_URL: 'https://forge.example.org:8443',
    SERVICE_HTTP_LISTEN: '127.0.0.1:4000',
    SERVICE_GRPC_LISTEN: '127.0.0.1:4001',
  };
  for (const [proxy, ...lines] of [
    [
      'nginx',
      'listen 8443 ssl http2;',
      'listen [::]:8443 ssl http2;',
      'proxy_pass http://127.0.0.1:4000;',
      'grpc_pass grpc://127.0.0.1:4001;',
      'listen 9443 ssl',
    ],
    ['caddy', '\nforge.example.org:8443 {', 'reverse_proxy 127.0.0.1:4000\n', 'h2c://127.0.0.1:4001\n'],
    ['traefik', 'address: ":8443"', 'url: "http://127.0.0.1:4000"', 'url: "h2c://127.0.0.1:4001"'],
  ] as const) {
    const { stdout } = await runCli(['init', '--proxy', proxy], { cwd: folder, env: elsewhere });
    for (const line of lines) t.ok(stdout.includes(line), `${proxy}: ${line}`);
    t.notMatch(stdout, /:300[01]|listen 443|":443"|listen 80|undefined/, proxy);
  }
  t.match(await hearth('init --proxy apache'), { code: 2, stderr: /caddy, nginx or traefik/ });
});

t.test('init --litestream prints the configuration of this database and this bucket, and the unit', async (t) => {
  const env = {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_GIT_STORAGE: 'store',
    SERVICE_OBJECTS_STORE: 's3',
    SERVICE_OBJECTS_ENDPOINT: 'https://s3.example.org',
    SERVICE_OBJECTS_BUCKET: 'forge',
    SERVICE_OBJECTS_PREFIX: 'git/own',
    SERVICE_OBJECTS_REGION: 'eu-1',
    SERVICE_OBJECTS_ADDRESSING: 'virtual',
    SERVICE_OBJECTS_ACCESS_KEY_ID: 'hunter1',
    SERVICE_OBJECTS_SECRET_ACCESS_KEY: 'hunter2',
  };
  const run = (more: Record<string, string>, ...words: string[]) =>
    runCli(['init', '--litestream', ...words], { cwd: folder, env: { ...env, ...more } });
  const { code, stdout, stderr } = await run({});
  t.equal(code, 0, stderr);
  t.strictSame(parseYaml(stdout), {
    dbs: [
      {
        path: path.join(dataDir, 'hearth.db'),
        replica: {
          type: 's3',
          endpoint: 'https://s3.example.org',
          bucket: 'forge',
          path: 'git/own/litestream',
          region: 'eu-1',
          'force-path-style': false,
          'sync-interval': '10s',
        },
      },
    ],
  });
  t.match(stderr, /systemctl enable --now hearth-litestream/);
  t.notMatch(stdout + stderr, /hunter|not set|not in the object store/);
  t.match(await runCli(['init', '--litestream'], { cwd: folder, env: { SERVICE_DATA_DIR: dataDir } }), {
    code: 0,
    stderr: /objects\.endpoint and objects\.bucket are not set[^]*Repositories are not in the object store/,
  });
  const unit = await run({ SERVICE_CA_FILE: '/etc/ssl/own.pem' }, '--unit');
  t.match(unit.stdout, `\nReadWritePaths=${dataDir}\n`);
  t.match(unit.stdout, '\nEnvironment=SSL_CERT_FILE=/etc/ssl/own.pem\n');
  const file = path.join(folder, 'hearth-litestream.service');
  writeFileSync(file, unit.stdout.replace('/usr/bin/litestream', '/bin/true'));
  t.equal(spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' }).stderr, '');
  t.match(await run({ SERVICE_DATABASE_URL: 'postgres://hearth@db.example.org/hearth' }), {
    code: 2,
    stderr: /uses PostgreSQL, so it has no database file/,
  });
});

t.test('init behind a proxy listens on this machine only, under the public address', async (t) => {
  const env = { SERVICE_DATA_DIR: path.join(folder, 'behind') };
  const made = await runCli(['init', '--config', 'behind.toml', '--behind-proxy', 'https://forge.example.org'], {
    cwd: folder,
    env,
  });
  t.match(made, { code: 0, stderr: /doctor --url https:\/\/forge.example.org/ });
  const settings = JSON.parse(
    (await runCli(['config', 'show', '--json', '--config', 'behind.toml'], { cwd: folder })).stdout,
  ) as { key: string; value: unknown }[];
  const value = (name: string) => settings.find(({ key }) => key === name)?.value;
  t.same(
    [value('base_url'), value('http.listen'), value('grpc.listen'), value('ssh.listen')],
    [
      'https://forge.example.org',
      { host: '127.0.0.1', port: 3000 },
      { host: '127.0.0.1', port: 3001 },
      { host: '0.0.0.0', port: 2222 },
    ],
  );
  t.match(
    (await runCli(['init', '--proxy', 'nginx', '--config', 'behind.toml'], { cwd: folder })).stdout,
    'server_name forge.example.org;',
  );
  t.equal(
    (await runCli(['init', '--config', 'other.toml', '--behind-proxy', 'git.example.org'], { cwd: folder, env })).code,
    5,
  );
  t.notOk(existsSync(path.join(folder, 'other.toml')));
});

t.test('status, stats, cleanup, trash, repo gc, fsck and size report the state', async (t) => {
  t.equal((await hearth('migrate')).code, 0);
  t.equal((await hearth('user add alice --random-password')).code, 0);
  t.equal((await hearth('repo add alice/garden')).code, 0);
  t.match(JSON.parse((await hearth('status --json')).stdout), {
    running: false,
    lastBackupAt: null,
    lastProvenRestoreAt: null,
    deliveriesWaiting: 0,
  });
  writeRuntimeState(dataDir, {
    pid: process.pid,
    startedAt: '2026-01-01T00:00:00Z',
    http: null,
    ssh: null,
    webUrl: null,
  });
  t.match(
    await hearth('status'),
    { code: 0, stdout: /\nWeb\tstarting\nSSH\tstarting\n/ },
    'right after a restart, before its doors are open',
  );
  removeRuntimeState(dataDir);
  t.match(JSON.parse((await hearth('stats --json')).stdout), {
    people: 1,
    repositories: 1,
    inTrash: 0,
    pushesToday: 0,
  });
  t.match(await hearth('cleanup'), { code: 0, stdout: /^Removed 0 expired/ });
  t.match(await hearth('repo fsck --all'), { code: 0, stdout: 'alice/garden\tok\t\n' });
  t.match(await hearth('repo gc alice/garden'), {
    code: 0,
    stdout: /^alice\/garden\t\d+\t\d+\t\d+\.\d s\tpacked\n$/,
    stderr: /(Used|Reclaimed) .* in 1 repository\.\n$/,
  });
  t.equal((await hearth('repo gc')).code, 2, 'neither one nor all');
  t.match(await hearth('repo gc --needed'), { code: 0, stdout: '', stderr: /in 0 repositories\.\n$/ });
  t.equal((await hearth('repo gc --needed --all')).code, 2);
  t.match(await hearth('repo size'), { stdout: /^alice\/garden\t\d+\t0\n$/ });
  t.equal((await hearth('repo delete alice/garden --yes')).code, 0);
  t.match(await hearth('trash list'), { stdout: /^alice\/garden\t[^\t]+Z\tcommand line\t\d+\t\d{4}-\d\d-\d\d\t/ });
  t.match(await hearth('trash empty --yes'), { stdout: /^Permanently removed 0 repositories/ }, 'too young');
  t.match(await hearth('trash empty --older 0s --dry-run'), { stdout: /^Would permanently remove 1 repository/ });
  t.match(await hearth('trash empty --older 0s --yes'), { stdout: /^Permanently removed 1 / });
  t.match(await hearth('log verify'), { code: 0, stdout: 'ok\n' });
  t.match((await hearth('log list')).stdout, /\tlocal\t\tperson\.added\t/);
});

t.test('db copy makes a consistent copy of the database; reindex corrects the search index', async (t) => {
  const copied = await hearth('db copy --to copy.db');
  t.equal(copied.code, 0, copied.stderr);
  t.match(copied.stdout, /^audit_log\t[1-9]\d*$/m);
  t.match(copied.stderr, /^Database copied to .*copy\.db\./);
  const copy = new DatabaseSync(path.join(folder, 'copy.db'), { readOnly: true });
  t.same({ ...copy.prepare('SELECT username FROM users').get() }, { username: 'alice' });
  copy.close();
  t.match(await hearth('db copy --to copy.db'), { code: 4, stderr: /already exists/ });
  t.match(await hearth('db copy --to mysql://db.example.org/hearth'), {
    code: 2,
    stderr: /must be a file, or an address/,
  });
  t.match(await hearth('db copy --from x.db --to y.db'), { code: 2, stderr: /--from must be an address/ });
  t.match(await hearth('db copy --to postgres://a:hunter2@127.0.0.1:1/hearth'), {
    code: 6,
    stderr: /^(?![^]*hunter2)[^]*nothing listens there/,
  });
  t.match(await hearth('db copy --to gone/copy.db'), { code: 2, stderr: /the folder .*gone does not exist/ });

  const file = new DatabaseSync(path.join(dataDir, 'hearth.db'));
  const texts = (): string[] =>
    file
      .prepare('SELECT folded FROM search_people')
      .all()
      .map(({ folded }) => String(folded));
  const before = texts();
  t.equal(before.length, 1);
  file.exec('DELETE FROM search_people');
  t.match(await hearth('reindex --search'), { code: 0, stdout: 'search\t1\n' });
  t.same(texts(), before);
  file.close();
  t.match(await hearth('reindex --json'), {
    code: 0,
    stdout: '[{"index":"search","rows":1},{"index":"languages","rows":0},{"index":"code","rows":0}]\n',
  });
});

t.test('backup create --tar is one file or one stream, which restore accepts', async (t) => {
  const made = await hearth('backup create --tar --to out --json');
  t.equal(made.code, 0, made.stderr);
  const { file, repositories } = JSON.parse(made.stdout) as { file: string; repositories: number };
  t.equal(repositories, 0);
  t.match(readdirSync(path.dirname(file)), [/^\d{4}-.*Z\.tar$/], 'and nothing else');
  t.same(readdirSync(path.join(dataDir, 'tmp')), []);
  t.match(await hearth('backup create --tar --to - --json'), { code: 2, stderr: /Omit --json/ });
  t.match(await hearth(`restore ${file}`), { code: 4, stderr: /already contains data\nhint: add --confirm/s });
  t.match(await hearth(`restore ${file} --dry-run`), {
    code: 0,
    stdout: /^Would restore 0 repositories, .* Moves existing data aside: .*hearth\.db/,
  });
  const other = path.join(folder, 'other');
  const restored = await hearth(`restore ${file} --data-dir ${other}`);
  t.match(restored, {
    code: 0,
    stdout: /^Restored 0 repositories/,
    stderr: /^Restoring 0 repositories, .* without private keys, to /,
  });
  t.match(await hearth(`user list --data-dir ${other}`), { stdout: /^alice\t/ });
  t.match(await hearth(`restore gone.tar --data-dir ${other}`), { code: 2, stderr: /no folder or file/ });
  t.match(await runCli(['restore', '-', '--data-dir', other, '--confirm'], { cwd: folder, input: 'no backup' }), {
    code: 3,
    stderr: /not a backup created with --tar/,
  });
});

t.test('migrate --rehearse works on a copy; rollback restores the copy from before a migration', async (t) => {
  const file = path.join(dataDir, 'hearth.db');
  // An older schema: without the last step.
  const older = new DatabaseSync(file);
  older.exec("DROP TABLE audit_log; DROP TABLE job_runs; DELETE FROM migrations WHERE name LIKE 'V40Audit%'");
  older.close();
  const rehearsed = JSON.parse((await hearth('migrate --rehearse --json')).stdout) as {
    steps: object[];
    problems: unknown;
    diskBytes: number;
  };
  t.match(rehearsed, { steps: [{ version: 40 }] });
  t.strictSame(rehearsed.problems, []);
  t.ok(rehearsed.diskBytes > 100_000);
  t.match(await hearth('migrate --status'), { stdout: /V40\tAudit\tpending/ }, 'the database itself is as it was');
  t.same(readdirSync(path.join(dataDir, 'tmp')), []);

  t.equal((await hearth('rollback')).code, 3, 'no copy yet');
  t.equal((await hearth('migrate')).code, 0);
  t.match(await hearth('rollback --dry-run'), { code: 0, stdout: /^Would restore .*V\d+-before-V40\.db; 0 pushes/ });
  t.equal((await hearth('repo add alice/later')).code, 0);
  const newer = new DatabaseSync(file);
  newer.exec(
    "INSERT INTO pushes (id, repository_id, via, created_at, settled_at) SELECT 'p', id, 'http', 1, 1 FROM repositories WHERE name = 'later'",
  );
  newer.close();
  t.match(await hearth('rollback --dry-run'), {
    code: 0,
    stdout: /; 1 push came/,
    stderr: /^ {2}pushed afterwards: alice\/later {2}1970-01-01T00:00:00Z$/m,
  });
  t.equal((await hearth('rollback')).code, 2, 'asks first');
  t.equal((await hearth('rollback --yes')).code, 0);
  t.match(await hearth('migrate --status'), { stdout: /V40\tAudit\tpending/ });
  t.ok(
    readdirSync(path.join(dataDir, 'backups')).some((name) => name.startsWith('rolled-back-')),
    'the newer one is kept',
  );
  t.notOk(existsSync(`${file}-wal`));
  t.equal((await hearth('migrate')).code, 0);
  t.match(JSON.parse((await hearth('stats --json')).stdout), { people: 1 });
});

t.test('progress is one line, redrawn on a terminal', async (t) => {
  t.equal(
    progressLine({ done: 137, total: 214, item: 'lab/site' }, 137_000),
    '[#############-------]  137/214  lab/site   eta 1m17s',
  );
  t.equal(progressLine({ done: 0, total: 0, item: 'x' }, 0), '[--------------------]  0/0  x');
  let now = 0;
  const written: string[] = [];
  const shown = (isTTY: boolean, json = false) =>
    showProgress({
      process: { stderr: { isTTY, columns: 30, write: (text: string) => written.push(text) > 0, on: () => 0 } },
      flags: { quiet: false, json },
      clock: { now: () => now },
    } as never);
  const terminal = shown(true);
  now = 1_000;
  terminal.step({ done: 1, total: 2, item: 'a very long name of something' });
  terminal.step({ done: 2, total: 2, item: 'too soon' });
  terminal.end();
  t.same(written.splice(0), ['\r[##########----------]  1/2  \u001b[K', '\r\u001b[K']);
  const pipe = shown(false);
  pipe.step({ done: 1, total: 2, item: 'x' });
  now += 10_000;
  pipe.step({ done: 1, total: 2, item: 'x' });
  shown(true, true).step({ done: 1, total: 2, item: 'x' });
  t.equal(written.length, 1);
});
