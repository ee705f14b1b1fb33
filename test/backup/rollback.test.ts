import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules } from '../../src/app/index.ts';
import { pushesAfter } from '../../src/backup/index.ts';
import { mergePushJournal } from '../../src/backup/merge-push-journal.ts';
import { loadConfig } from '../../src/config/index.ts';
import { copyDatabase, createDatabase } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { AnnouncedPush } from '../../src/repositories/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseOptions } from '../fixtures/test-database.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
const env = { SERVICE_DATA_DIR: dataDir };
const { config } = loadConfig({ argvOverrides: {}, env, cwd: folder, readFile: () => '' });
const hearth = (line: string) => runCli(line.split(' '), { cwd: folder, env });
const none = '0'.repeat(40);
mkdirSync(dataDir, { mode: 0o700 });

const open = () => openModules(config, { logger: silentLogger }, 'always');
type Modules = Awaited<ReturnType<typeof open>>;

async function repository({ repositories }: Modules, name: string) {
  const found = await repositories.find(localAdministrator, 'alice', name);
  const tree = (await runGit(['mktree'], { cwd: found.path, input: '' })).trim();
  return {
    ...found,
    async commit(message: string, ...parents: string[]): Promise<string> {
      return (
        await runGit(['commit-tree', '-m', message, ...parents.flatMap((each) => ['-p', each]), tree], {
          cwd: found.path,
        })
      ).trim();
    },
    async push(
      userId: string | null,
      ...updates: (readonly [ref: string, oldId: string, newId: string])[]
    ): Promise<string> {
      const { pushId } = await repositories.pushes.applyUpdates(found, {
        via: 'http',
        userId,
        updates: updates.map(([ref, oldId, newId]) => ({ ref, oldId, newId })),
      });
      return pushId;
    },
  };
}

async function create(modules: Modules, name: string) {
  await modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
  return repository(modules, name);
}

t.test('after a rollback the journal has the pushes since, and none is lost', async (t) => {
  const before = await open();
  const { id: alice } = await before.accounts.addPerson({ username: 'alice' });
  const token = await before.accounts.addToken(alice, {
    name: 'lost',
    access: 'write',
    repositoryIds: null,
    expiresAt: null,
  });
  const garden = await create(before, 'garden');
  const doomed = await create(before, 'doomed');
  const purged = await create(before, 'purged');
  const first = await garden.commit('first');
  await garden.push(alice, ['refs/heads/main', none, first]);
  await before.repositories.pushes.finish();
  mkdirSync(path.join(dataDir, 'backups'), { recursive: true });
  await copyDatabase(path.join(dataDir, 'hearth.db'), path.join(dataDir, 'backups', 'V56-before-V57.db'));

  // Written by the newer program.
  const { id: bob } = await before.accounts.addPerson({ username: 'bob' });
  const [second, other, late] = [
    await garden.commit('second', first),
    await garden.commit('other'),
    await garden.commit('late', first),
  ];
  const pushes = [
    await garden.push(alice, ['refs/heads/main', first, second], ['refs/heads/work', none, other]),
    await garden.push(bob, ['refs/heads/work', other, none]),
    await garden.push(alice, ['refs/heads/main', second, other]),
  ];
  await before.repositories.pushes.finish();
  await runGit(['update-ref', 'refs/heads/unknown', late], { cwd: garden.path });
  await before.repositories.changeVisibility(localAdministrator, 'alice', 'garden', 'PRIVATE');
  await before.repositories.rename(localAdministrator, 'alice', 'garden', 'orchard');
  const younger = await create(before, 'garden');
  const seed = await younger.commit('seed');
  pushes.push(await younger.push(bob, ['refs/heads/master', none, seed]));
  await before.repositories.create(localAdministrator, { owner: 'bob', name: 'own', visibility: 'PUBLIC' });
  await before.repositories.trash.move(localAdministrator, 'alice', 'purged');
  t.equal(await before.repositories.trash.empty(-1), 1);
  await before.repositories.trash.move(localAdministrator, 'alice', 'doomed');
  await before.accounts.removeToken(alice, token.token.id);
  await before.close();

  t.match(await hearth('rollback --dry-run'), {
    code: 0,
    stdout: /; 4 pushes came after it and would be kept/,
    stderr: /pushed afterwards: alice\/orchard .*pushed afterwards: alice\/garden /s,
  });
  const done = await hearth('rollback --yes');
  t.match(done, { code: 0, stdout: /^Restored .*V56-before-V57\.db and kept 4 pushes made after it/ }, done.stderr);
  t.match(done.stderr, /1 repository had changed without a journal entry/);
  t.match(done.stderr, /its owner is newer: bob\/own; .*hearth repo adopt .*\.git bob\/own/);
  t.same(
    readdirSync(dataDir).filter((name) => /^hearth\.db\.new/.test(name)),
    [],
  );

  const after = await open();
  t.teardown(() => after.close());
  const received: { listener: string; push: AnnouncedPush }[] = [];
  // With the listener names of the modules, which are registered already.
  const marks = (await after.db.read.query(
    'SELECT push_id AS id, listener FROM push_announcements ORDER BY listener',
  )) as { id: string; listener: string }[];
  const listenersOf = (id: string) => marks.filter((mark) => mark.id === id).map(({ listener }) => listener);
  t.same(
    listenersOf(pushes[0]!),
    ['ci', 'federation', 'undo', 'webhooks'],
    'a push that later ones have overtaken starts no CI',
  );
  t.same(
    listenersOf(pushes[2]!),
    ['federation', 'undo', 'webhooks'],
    'the newest does, and other hosts were told already',
  );
  after.repositories.pushes.onPush({
    name: 'inside',
    async prepare(push) {
      received.push({ listener: 'inside', push });
      return null;
    },
  });
  await after.repositories.recover();
  await after.repositories.pushes.recover();
  t.same(
    received.map(({ push }) => push.id).slice(0, 4),
    pushes,
    'listeners of pushes are notified of these, in their order',
  );
  t.match(
    received[4]!.push,
    { via: 'undo', updates: [{ ref: 'refs/heads/unknown', oldId: none, newId: late }] },
    'a ref that moved without an entry has one now',
  );
  t.equal(received.length, 5);

  const orchard = await after.repositories.find(localAdministrator, 'alice', 'orchard');
  t.match(
    orchard.repository,
    { visibility: 'PRIVATE', id: garden.repository.id },
    'a repository that was closed stays closed',
  );
  const { pushes: activity } = await after.repositories.pushes.listActivity(orchard, { limit: 10 });
  t.same(
    activity.slice(1, 4).map(({ id }) => id),
    pushes.slice(0, 3).reverse(),
  );
  t.same(
    [activity[2]!.person, activity[1]!.person?.username],
    [null, 'alice'],
    'a person whom the older copy does not know is left out',
  );
  const lost = await after.repositories.pushes.listLostTips(orchard);
  t.same(
    lost.map(({ ref, oldId }) => [ref, oldId]).sort(),
    [
      ['refs/heads/main', second],
      ['refs/heads/work', other],
    ],
    'what was overwritten since can be had back',
  );
  t.equal(
    (await after.repositories.find(localAdministrator, 'alice', 'garden')).repository.defaultBranch,
    'master',
    'a newer repository is here, with its default branch',
  );
  t.same(
    (await after.repositories.trash.list()).map(({ id }) => id),
    [doomed.repository.id],
  );
  t.strictSame(
    await after.db.read.query('SELECT name FROM repositories WHERE id = ?', [purged.repository.id]),
    [],
    'what was removed for good has no row without a folder',
  );
  t.same((await after.accounts.listTokens(alice)).length, 0, 'a token that was taken away does not come back');
  const log = (await after.audit.list({ limit: 100 })).map(({ event }) => event);
  t.equal(
    log.find((event) => !event.startsWith('repository.')),
    'backup.rolled_back',
  );
  for (const event of ['token.removed', 'repository.renamed'])
    t.ok(log.includes(event), `${event}: who did what since is still known`);
  t.equal(await after.audit.findBreak(), null);
  await after.repositories.pushes.finish();
  t.same(await after.db.read.query('SELECT id FROM pushes WHERE announced_at IS NULL'), []);
  t.match(await hearth('rollback --to gone.db'), { code: 3, stderr: /does not exist/ });
});

t.test('without a readable newer database the refs on disk decide', async (t) => {
  const own = temporaryFolder(t);
  const other = path.join(own, 'data');
  mkdirSync(other, { mode: 0o700 });
  const env = { SERVICE_DATA_DIR: other };
  const modules = await openModules(
    loadConfig({ argvOverrides: {}, env, cwd: own, readFile: () => '' }).config,
    { logger: silentLogger },
    'always',
  );
  await modules.accounts.addPerson({ username: 'alice' });
  const garden = await create(modules, 'garden');
  const first = await garden.commit('first');
  const snapshot = path.join(own, 'copy.db');
  await copyDatabase(path.join(other, 'hearth.db'), snapshot);
  await garden.push(null, ['refs/heads/main', none, first]);
  await modules.close();
  copyFileSync(new URL(import.meta.url), path.join(other, 'hearth.db'));
  const done = await runCli(['rollback', '--to', snapshot, '--yes'], { cwd: own, env });
  t.match(done, { code: 0, stderr: /newer database cannot be read.*1 repository had changed/s }, done.stderr);
  const file = new DatabaseSync(path.join(other, 'hearth.db'));
  t.same(
    { ...file.prepare('SELECT ref, old_id, new_id, result FROM push_updates').get() },
    { ref: 'refs/heads/main', old_id: none, new_id: first, result: 'ok' },
  );
  file.close();
});

t.test('an older schema gets the columns and values that it has', async (t) => {
  const older = path.join(temporaryFolder(t), 'older.db');
  const newer = path.join(temporaryFolder(t), 'newer.db');
  await (
    await createDatabase(databaseOptions(older, { migrations: migrations.filter(({ version }) => version <= 13) }))
  ).close();
  await (await createDatabase(databaseOptions(newer))).close();
  const fill = (file: string, sql: string) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  fill(older, "INSERT INTO users (id, username, created_at) VALUES ('u', 'alice', 1)");
  fill(
    newer,
    `INSERT INTO users (id, username, created_at) VALUES ('u', 'alice', 1);
    INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at) VALUES ('r', 'u', 'Garden', 'garden', 'PUBLIC', 1, 1);
    INSERT INTO pushes (id, repository_id, user_id, via, created_at, settled_at, announced_at) VALUES ('p', 'r', 'u', 'mirror', 5, 6, 7), ('q', 'r', NULL, 'ssh', 8, NULL, NULL);
    INSERT INTO push_updates (push_id, position, ref, old_id, new_id, result, kept_until) VALUES ('p', 0, 'refs/heads/main', '0', '1', 'ok', 9), ('q', 0, 'refs/heads/main', '1', '2', NULL, NULL)`,
  );
  t.same(await pushesAfter(older, newer), [{ id: 'p', at: 5, repository: 'alice/Garden' }]);
  t.strictSame((await mergePushJournal(older, newer)).left, []);
  const file = new DatabaseSync(older);
  t.same(
    file
      .prepare('SELECT id, via, user_id, settled_at, announced_at FROM pushes ORDER BY id')
      .all()
      .map((row) => Object.values(row)),
    [
      ['p', 'http', 'u', 6, null],
      ['q', 'ssh', null, null, null],
    ],
  );
  t.same(
    file
      .prepare('SELECT push_id, listener FROM push_announcements ORDER BY listener')
      .all()
      .map((row) => Object.values(row)),
    [
      ['p', 'federation'],
      ['p', 'webhooks'],
    ],
  );
  t.same(file.prepare('PRAGMA foreign_key_check').all(), []);
  file.close();
});
