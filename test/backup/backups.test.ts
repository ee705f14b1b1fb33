// time limit: 300 s
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { eachLimit } from '../../src/kernel/index.ts';
import { retainedBackups, usualRule } from '../../src/backup/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { runCli } from '../cli/run-cli.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { startPushLoad } from './push-load.ts';
import type { Branch } from './push-load.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const run = promisify(execFile);
/** Twenty for a release; see scripts/chaos. */
const rounds = Number(process.env['HEARTH_BACKUP_ROUNDS'] ?? 1);

/** A work tree that pushes to `alice/NAME` of a running Hearth. */
function workTree(folder: string, url: string, name: string) {
  const work = path.join(folder, `work-${name}`);
  const git = (...args: string[]) => run('git', args, { cwd: work, env: clientEnvironment });
  mkdirSync(work);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main'], { cwd: work, env: clientEnvironment });
  return {
    git,
    async commit(text: string) {
      writeFileSync(path.join(work, 'file.txt'), text);
      await git('add', '.');
      await git('-c', 'user.name=alice', '-c', 'user.email=alice@example.org', 'commit', '--quiet', '-m', text);
    },
    push: (...more: string[]) => git('push', '--quiet', url, 'HEAD:refs/heads/main', ...more),
  };
}

async function instance(t: Owner, repositories = 3) {
  const hearth = await startHearth(t);
  const alice = await hearth.addPerson('alice');
  const trees = [];
  for (let at = 1; at <= repositories; at += 1) {
    const name = `garden-${at}`;
    await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
    const tree = workTree(
      hearth.folder,
      `${hearth.url.replace('://', `://alice:${alice.token}@`)}/git/alice/${name}.git`,
      name,
    );
    await tree.commit('first');
    await tree.push();
    trees.push(tree);
  }
  return {
    hearth,
    alice,
    trees,
    cli: (...words: string[]) => runCli(words, { env: { SERVICE_DATA_DIR: hearth.config.dataDir } }),
  };
}

/** Paths of all files below a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));

// Whole instances under load take longer than other tests.
t.setTimeout(180_000 + rounds * 60_000);

/** Loose or packed, whichever git chose. */
const objectFile = /objects\/(?:[0-9a-f]{2}\/|pack\/.*\.pack$)/;

t.test('a backup is complete, passes a restore test, and shares unchanged files with the previous one', async (t) => {
  const { hearth, trees } = await instance(t);
  const { backups } = hearth.modules;
  const first = await backups.create();
  t.equal(first.repositories, 3);
  t.same(
    (await backups.verify(first.name)).flatMap(({ problems }) => problems),
    [],
  );

  await trees[0]!.commit('second');
  await trees[0]!.push();
  // What changed within the last two seconds before a backup is copied again.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const second = await backups.create();
  const third = await backups.create();
  t.not(first.name, second.name, 'names differ within a second');
  const packed = Object.keys(JSON.parse(readFileSync(path.join(third.folder, 'manifest.json'), 'utf8')).files).filter(
    (file) => objectFile.test(file),
  );
  t.ok(packed.length > 0);
  for (const file of packed)
    t.equal(
      statSync(path.join(third.folder, file)).ino,
      statSync(path.join(second.folder, file)).ino,
      'the same bytes once',
    );

  const proof = await backups.drill();
  t.match(proof, { proven: 3, total: 3 });
  t.strictSame(proof.problems, []);
  t.match(await backups.state(), { newest: { name: third.name, proof: { proven: 3 } }, lastRestoreTest: { total: 3 } });
  t.same(readdirSync(path.join(hearth.config.dataDir, 'tmp')), [], 'the drill leaves nothing');
  t.match(await backups.list(), [{ name: third.name }, { name: second.name }, { name: first.name, proof: null }]);
});

t.test('what a fork shares with its source is in a backup once, and shared again after a restore', async (t) => {
  const { hearth } = await instance(t, 1);
  await hearth.addPerson('bob');
  const { backups, repositories } = hearth.modules;
  await repositories.forks.create(localAdministrator, 'alice', 'garden-1', { owner: 'bob' });
  const { folder } = await backups.create();
  const files = Object.keys(JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')).files);
  const packs = files.filter((file) => file.endsWith('.pack'));
  t.equal(packs.length, 2);
  const inodes = (base: string) => new Set(packs.map((file) => statSync(path.join(base, file)).ino)).size;
  t.equal(inodes(folder), 1);
  t.match(await backups.drill(), { proven: 2, total: 2, problems: [] });
  const target = path.join(temporaryFolder(t), 'data');
  const restored = await runCli(['restore', folder], { env: { SERVICE_DATA_DIR: target } });
  t.equal(restored.code, 0, restored.stderr);
  t.equal(inodes(target), 1, 'hard links again');
  const shown = await runCli(['repo', 'show', 'bob/garden-1', '--json'], { env: { SERVICE_DATA_DIR: target } });
  t.match(JSON.parse(shown.stdout), { forkedFrom: 'alice/garden-1' });
});

t.test('damage is reported with its place, and a damaged backup is not restored', async (t) => {
  const { hearth, cli } = await instance(t, 1);
  const { backups } = hearth.modules;
  const { name, folder } = await backups.create();
  const files = Object.keys(JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')).files);
  const object = files.find((file) => objectFile.test(file))!;
  chmodSync(path.join(folder, object), 0o600);
  appendFileSync(path.join(folder, object), 'x');
  const other = files.find((file) => /^repositories\/.*\/config$/.test(file))!;
  const content = readFileSync(path.join(folder, other));
  content[0]! ^= 1;
  chmodSync(path.join(folder, other), 0o600);
  writeFileSync(path.join(folder, other), content);
  rmSync(path.join(folder, files.find((file) => file.endsWith('/HEAD'))!));
  writeFileSync(path.join(folder, 'unlisted'), '');
  const [checked] = await backups.verify(name);
  t.same(
    checked!.problems.map((text) => text.replace(/^.*\//, '')).sort(),
    [
      `${object.split('/').at(-1)} has changed`,
      'config has changed',
      'HEAD is missing',
      'unlisted is not in the manifest',
    ].sort(),
  );
  t.match(await backups.drill(name), { proven: 0, total: 1 });
  t.equal((await backups.state()).lastRestoreTest, null);
  t.equal((await cli('backup', 'verify', name)).code, 7);

  const target = path.join(temporaryFolder(t), 'data');
  const restored = await runCli(['restore', folder], { env: { SERVICE_DATA_DIR: target } });
  t.match(restored, { code: 6, stderr: /the backup is damaged.*Nothing was changed/s });
  t.notOk(existsSync(path.join(target, 'hearth.db')));
});

t.test('refs and rows that are not those of the manifest are reported', async (t) => {
  const { hearth } = await instance(t, 2);
  const { backups } = hearth.modules;
  const { name, folder } = await backups.create();
  const { repositories } = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as {
    repositories: { folder: string }[];
  };
  const changed = repositories[0]!.folder;
  execFileSync('git', [`--git-dir=${path.join(folder, changed)}`, 'update-ref', 'refs/heads/later', 'refs/heads/main']);
  const file = path.join(folder, 'hearth.db');
  chmodSync(file, 0o600);
  const database = new DatabaseSync(file);
  database.exec('DELETE FROM sessions');
  database.close();
  const parts = new Map((await backups.verify(name)).map(({ part, problems }) => [part, problems]));
  t.strictSame(parts.get('repositories'), [`${changed}: its refs differ from the manifest`]);
  t.strictSame(parts.get('database'), ['sessions has 0 rows instead of 1']);
});

t.test(
  'security K03 private keys leave only in a backup with keys; a restore makes new ones for the same actors',
  async (t) => {
    const { hearth } = await instance(t, 1);
    // As long as a real one: of a row that is written over by a shorter one, the rest stays in a free page.
    const words = 'a private key that nobody may see';
    const secret = `${words} `.repeat(300);
    await hearth.modules.db.write(({ manager }) =>
      manager.query(
        `INSERT INTO federation_keys VALUES ('/ap/users/alice', 'user', 'alice', 'public', '${secret}', 1)`,
      ),
    );
    await hearth.modules.ci.secrets.set({ kind: 'instance' }, { name: 'DEPLOY_KEY', value: 'x' });
    const without = await hearth.modules.backups.create();
    t.notOk(readFileSync(path.join(without.folder, 'hearth.db')).includes(words), 'not even in free pages');
    const keyFiles = filesIn(hearth.config.dataDir).filter((file) => /(^|\/)secret\.key$|^secrets\//.test(file));
    t.ok(keyFiles.includes('ci/secret.key'), keyFiles.join(', '));
    const keys = keyFiles.flatMap((file) => {
      const bytes = readFileSync(path.join(hearth.config.dataDir, file));
      return [bytes, Buffer.from(bytes.toString('base64')), Buffer.from(bytes.toString('hex'))];
    });
    for (const file of filesIn(without.folder)) {
      const content = readFileSync(path.join(without.folder, file));
      t.notOk(
        keys.some((key) => content.includes(key)),
        `${file} has no key`,
      );
    }
    const withKeys = await hearth.modules.backups.create({ withKeys: true });
    t.ok(readFileSync(path.join(withKeys.folder, 'hearth.db')).includes(words));
    t.strictSame(
      keyFiles.filter((file) => !filesIn(withKeys.folder).includes(file)),
      [],
    );

    const target = path.join(temporaryFolder(t), 'data');
    const { code, stdout } = await runCli(['restore', without.folder, '--json'], { env: { SERVICE_DATA_DIR: target } });
    t.equal(code, 0);
    t.match(JSON.parse(stdout), { repositories: 1, newKeys: 1, movedAside: null });
    const restored = await startHearth(t, { env: { SERVICE_DATA_DIR: target } });
    const [row] = (await restored.modules.db.read.query('SELECT * FROM federation_keys')) as Record<string, string>[];
    t.match(row, {
      ap_path: '/ap/users/alice',
      private_key_pem: /BEGIN PRIVATE KEY/,
      public_key_pem: /BEGIN PUBLIC KEY/,
    });
    t.same(await restored.modules.db.read.query('SELECT * FROM sessions'), [], 'all sessions ended');
    t.match(await restored.modules.audit.list({ limit: 1 }), [
      { event: 'backup.restored', actor: 'local', details: { repositories: 1 } },
    ]);
    t.equal(await restored.modules.audit.findBreak(), null);
  },
);

t.test('restore refuses a folder with data unless confirmed; then it moves the data aside', async (t) => {
  const { hearth, cli } = await instance(t, 1);
  const { path: garden } = await hearth.modules.repositories.find(localAdministrator, 'alice', 'garden-1');
  // As if pushed after the database was copied and before the repository was.
  await run('git', ['update-ref', 'refs/heads/late', 'HEAD'], { cwd: garden });
  const { folder } = await hearth.modules.backups.create();
  await hearth.stop();
  t.match(await cli('restore', folder), { code: 4, stderr: /already contains data/ });
  const { code, stderr } = await cli('restore', folder, '--confirm');
  t.equal(code, 0, stderr);
  const aside = readdirSync(hearth.config.dataDir).find((name) => name.startsWith('replaced-by-'))!;
  t.ok(existsSync(path.join(hearth.config.dataDir, aside, 'hearth.db')));
  const again = await startHearth(t, { folder: hearth.folder });
  t.equal((await again.modules.repositories.listAll()).length, 1);
  const { pushes } = await again.modules.repositories.pushes.listActivity(
    await again.modules.repositories.find(localAdministrator, 'alice', 'garden-1'),
    { limit: 10 },
  );
  t.match(
    pushes,
    [{ via: 'undo', person: null, updates: [{ ref: 'refs/heads/late' }] }, { via: 'http' }],
    'what came between database and repository has its entry',
  );
});

interface TakenBackup {
  hearth: Awaited<ReturnType<typeof instance>>['hearth'];
  name: string;
  folder: string;
  branches: readonly Branch[];
  /** The acknowledged pushes of each branch when the backup began. */
  before: readonly number[];
  round: number;
}

/** Restores a backup, by a restore test and by hand, and compares it with the acknowledged pushes. */
async function proveBackup(t: Test, { hearth, name, folder, branches, before, round }: TakenBackup): Promise<void> {
  t.strictSame((await hearth.modules.backups.drill(name)).problems, [], `round ${round}`);
  const target = path.join(temporaryFolder(t), 'data');
  const restored = { env: { SERVICE_DATA_DIR: target, SERVICE_HTTP_LISTEN: '127.0.0.1:3000' } };
  t.equal((await runCli(['restore', folder], restored)).code, 0);
  const { code, stdout } = await runCli(['doctor', '--json'], restored);
  t.equal(code, 0);
  t.same(JSON.parse(stdout).findings, [], 'a clean doctor');
  for (const [at, { repository, ref, heads }] of branches.entries()) {
    const { path: home } = await hearth.modules.repositories.find(
      localAdministrator,
      'alice',
      repository.slice('alice/'.length),
    );
    const place = path.join(target, path.relative(hearth.config.dataDir, home));
    const head = execFileSync('git', ['-c', 'safe.bareRepository=all', `--git-dir=${place}`, 'rev-parse', ref], {
      env: clientEnvironment,
      encoding: 'utf8',
    }).trim();
    t.ok(heads.indexOf(head) >= before[at]! - 1, `${repository} ${ref} has what was acknowledged before`);
  }
  rmSync(target, { recursive: true });
}

t.test(`backups under load restore completely with a clean doctor, ${rounds} of ${rounds}`, async (t) => {
  const { hearth, alice, cli } = await instance(t, 2);
  t.equal((await cli('user', 'admin', 'alice', 'on')).code, 0);
  const load = startPushLoad({
    url: hearth.url,
    token: alice.token,
    repositories: ['alice/garden-1', 'alice/garden-2'],
    branchesEach: 2,
    perSecond: 22,
  });
  let isOver = false;
  // Repositories are created and deleted meanwhile.
  const churn = (async () => {
    // Each check reads all of them: forty are enough to meet every moment.
    for (let turn = 1; !isOver && turn <= 40; turn += 1) {
      const name = `passing-${turn}`;
      await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PRIVATE' });
      if (turn % 2 === 0) await hearth.modules.repositories.trash.move(localAdministrator, 'alice', name);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  })();
  await waitUntil(() => load.branches.every(({ acknowledged }) => acknowledged > 2));
  const rates: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const before = load.branches.map(({ acknowledged }) => acknowledged);
    const {
      result: { name, folder },
      perSecond,
    } = await load.during(() => hearth.modules.backups.create());
    rates.push(perSecond);
    // The restore would run on another machine: it must not compete with the load for processors.
    await load.without(() => proveBackup(t, { hearth, name, folder, branches: load.branches, before, round }));
  }
  isOver = true;
  await Promise.all([load.stop(), churn]);
  t.comment(`pushes a second while backups were taken: ${rates.map((rate) => rate.toFixed(1)).join(' ')}`);
});

t.test('one backup at a time, and a killed process does not block the next', async (t) => {
  const { hearth } = await instance(t, 1);
  const { backups } = hearth.modules;
  const [first, second] = await Promise.allSettled([backups.create(), backups.create()]);
  t.same([first, second].map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const left = path.join(hearth.config.backup.folder, '.unfinished-2020-01-01T00-00-00Z');
  mkdirSync(left);
  await backups.create();
  t.notOk(existsSync(left));
  t.equal(await backups.isRunning(), false);

  const mark = path.join(hearth.config.dataDir, 'run', 'backup-under-way');
  const ageMark = (ms: number): void => {
    writeFileSync(mark, '');
    utimesSync(mark, (Date.now() - ms) / 1000, (Date.now() - ms) / 1000);
  };
  ageMark(50_000);
  t.equal(await backups.isRunning(), true, 'the mark of another process counts for a minute');
  await t.rejects(backups.create(), /A backup is already in progress/);
  ageMark(60_001);
  t.equal(await backups.isRunning(), false);
  await backups.create();
  t.notOk(existsSync(mark));
});

t.test(
  'a restore puts the database in place last: cut short, it leaves nothing that a server would start with',
  async (t) => {
    const { hearth } = await instance(t, 1);
    const { folder } = await hearth.modules.backups.create();
    const place = temporaryFolder(t);
    const target = path.join(place, 'data');
    // Found when the repositories are moved there, and not before.
    symlinkSync(path.join(place, 'unmounted'), path.join(place, 'link'));
    const restored = await runCli(['restore', folder], {
      env: { SERVICE_DATA_DIR: target, SERVICE_STORAGE_ROOT: path.join(place, 'link', 'repositories') },
    });
    t.not(restored.code, 0);
    t.notOk(existsSync(path.join(target, 'hearth.db')));
  },
);

t.test('a backup that fails leaves no folder', async (t) => {
  const { hearth } = await instance(t, 1);
  const readme = path.join(hearth.config.dataDir, 'README');
  rmSync(readme, { force: true });
  mkdirSync(readme);
  await t.rejects(hearth.modules.backups.create());
  t.strictSame(readdirSync(hearth.config.backup.folder), []);
});

t.test('a folder that cannot be made is reported at once, and nothing is left', async (t) => {
  const { hearth, cli } = await instance(t, 0);
  const inTheWay = path.join(hearth.folder, 'file');
  writeFileSync(inTheWay, '');
  for (const words of [[], ['--tar']]) {
    t.match(await cli('backup', 'create', '--to', '/proc/x', ...words), {
      code: 2,
      stderr: /^error: the folder \/proc\/x cannot be created: nobody can make folders there/i,
    });
    t.match(await cli('backup', 'create', '--to', path.join(inTheWay, 'below'), ...words), {
      code: 2,
      stderr: /a file is in the way/,
    });
  }
  t.notOk(existsSync(path.join(hearth.config.dataDir, 'tmp')));
  t.match(await cli('init', '--config', '/proc/x/hearth.toml'), { code: 2, stderr: /cannot be created/ });
});

t.test('a failed copy ends only after all its concurrent work has ended', async (t) => {
  const release = Promise.withResolvers<void>();
  let working = 0;
  const copying = eachLimit([1, 2, 3, 4], 2, async (item) => {
    working += 1;
    if (item === 1) throw new Error('gone');
    await release.promise;
    working -= 1;
  });
  copying.catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  release.resolve();
  await t.rejects(copying, { message: 'gone' });
  t.equal(working, 1, 'the one that failed, and none that goes on; none began after it');
});

t.test('retention by days, weeks and months', async (t) => {
  const day = 86_400_000;
  const newest = Date.UTC(2026, 10, 20, 3, 30);
  const all = Array.from({ length: 400 }, (_, ago) => ({ name: String(ago), madeAt: newest - ago * day, proof: null }));
  const retained = [...retainedBackups(all, usualRule)].map(Number).sort((a, b) => a - b);
  // 20 November 2026 is a Friday: weeks end 5, 12 and 19 days ago, months 20, 51, 81, 112 and 143 days ago.
  t.same(retained, [0, 1, 2, 3, 4, 5, 6, 12, 19, 20, 51, 81, 112, 143]);
  const proven = { name: 'proven', madeAt: newest - 500 * day, proof: { at: '', proven: 1, total: 1, problems: [] } };
  t.ok(retainedBackups([...all, proven], usualRule).has('proven'), 'the last one that is known to be whole stays');
  const broken = { ...proven, name: 'broken', madeAt: newest - 400 * day, proof: { ...proven.proof, problems: ['x'] } };
  const withBroken = retainedBackups([...all, proven, broken], usualRule);
  t.same([withBroken.has('proven'), withBroken.has('broken')], [true, false], 'a restore that failed proves nothing');
  t.same([...retainedBackups(all, { daily: 0, weekly: 0, monthly: 0 })], ['0'], 'never none');
});
