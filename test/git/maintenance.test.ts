import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createMaintenance } from '../../src/git/maintenance/maintenance.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { gitSync, openGit, sampleRepository } from './git-fixture.ts';
import { packOf, pushBytes, sendPush, zeroId } from './push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const [main, topic] = ['main', 'topic'].map((name) => gitSync(['rev-parse', name], { cwd: sample })) as [
  string,
  string,
];
const deps = await openGit(t, { limits: { maintenanceQuietMs: 0 } });

const packFiles = (repository: string) => readdirSync(path.join(repository, 'objects', 'pack'));
const push = (repository: string, branch: string, id: string, ...revisions: string[]) =>
  sendPush(
    deps.git,
    repository,
    pushBytes({ commands: [`${zeroId} ${id} refs/heads/${branch}`], pack: packOf(sample, ...revisions) }),
  );

t.test('maintenance after pushes writes packs with a bitmap and packs refs, and loses nothing', async (t) => {
  const repository = await deps.newRepository();
  gitSync(['fetch', '--quiet', sample, 'main:refs/heads/before'], { cwd: repository });
  gitSync(['--git-dir', repository, 'repack', '-adq']);
  for (let at = 0; at < 120; at += 1) writeFileSync(path.join(repository, 'refs', 'heads', `b${at}`), `${main}\n`);
  const lost = gitSync(['--git-dir', repository, 'hash-object', '-w', '--stdin'], { input: 'nothing reaches this' });
  t.equal(await deps.git.maintenance.run(), 0, 'nobody has pushed');
  const pushed = await push(repository, 'topic', topic, 'topic', '^main');
  t.match(pushed.outcome, { kind: 'reported', results: [{ ok: true }] });
  const before = gitSync(['--git-dir', repository, 'for-each-ref']);
  t.equal(await deps.git.maintenance.run(async () => false), 0, 'a backup is running');
  t.equal(await deps.git.maintenance.run(), 1);
  t.ok(packFiles(repository).some((name) => name.endsWith('.bitmap')));
  t.same(readdirSync(path.join(repository, 'refs', 'heads')), []);
  t.equal(gitSync(['--git-dir', repository, 'for-each-ref']), before);
  t.equal(gitSync(['--git-dir', repository, 'cat-file', 'blob', lost]), 'nothing reaches this');
  gitSync(['--git-dir', repository, 'fsck', '--strict']);
  t.equal(await deps.git.maintenance.run(), 0, 'and is left alone afterwards');
});

t.test('objects that nothing reaches stay for thirty days', async (t) => {
  const repository = await deps.newRepository();
  gitSync(['fetch', '--quiet', sample, 'main:refs/heads/main'], { cwd: repository });
  const dayMs = 86_400_000;
  const lostFor = (days: number): string => {
    const oid = gitSync(['--git-dir', repository, 'hash-object', '-w', '--stdin'], { input: `${days} days` }).trim();
    const at = new Date(Date.now() - days * dayMs);
    utimesSync(path.join(repository, 'objects', oid.slice(0, 2), oid.slice(2)), at, at);
    return oid;
  };
  const [young, old] = [lostFor(29), lostFor(31)];
  await deps.git.maintenance.pack(repository);
  const isThere = (oid: string): boolean => {
    try {
      return gitSync(['--git-dir', repository, 'cat-file', '-e', oid]) === '';
    } catch {
      return false;
    }
  };
  t.strictSame([isThere(young), isThere(old)], [true, false]);
});

t.test('a repository that is fast enough gets a commit-graph only', async (t) => {
  const repository = await deps.newRepository();
  await push(repository, 'main', main, 'main');
  t.equal(await deps.git.maintenance.run(), 1);
  t.same(
    packFiles(repository).filter((name) => !name.startsWith('pack-')),
    [],
  );
  gitSync(['--git-dir', repository, 'commit-graph', 'verify']);
  t.equal(await deps.git.maintenance.run(), 0);
});

t.test('a complete repack runs where it is needed, within the window, and keeps unreachable objects', async (t) => {
  const [needy, calm] = [await deps.newRepository(), await deps.newRepository()];
  for (const repository of [needy, calm]) await push(repository, 'main', main, 'main');
  const lost = gitSync(['--git-dir', needy, 'hash-object', '-w', '--stdin'], { input: 'pushed away last week' });
  // As many as there are after some thousand loose objects.
  mkdirSync(path.join(needy, 'objects', '17'), { recursive: true });
  for (let number = 0; number < 30; number += 1)
    writeFileSync(path.join(needy, 'objects', '17', `tmp_obj_${number}`), '');
  t.equal(await deps.git.maintenance.packAll([needy, calm], async () => false), 0, 'the window is over');
  const before = packFiles(calm);
  t.equal(await deps.git.maintenance.packAll([needy, path.join(deps.folder, 'absent.git'), calm], async () => true), 1);
  t.same(packFiles(calm), before);
  t.equal(packFiles(needy).filter((name) => name.endsWith('.pack')).length, 1);
  t.equal(gitSync(['--git-dir', needy, 'cat-file', 'blob', lost]), 'pushed away last week');
});

/** The maintenance queue alone, with work that runs until it is aborted. */
function maintenanceAlone(givenUp: string[] = []) {
  const started: string[] = [];
  const maintenance = createMaintenance({
    runner: undefined as never,
    packAnew: (repository, signal) => {
      started.push(repository);
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          givenUp.push(repository);
          reject(signal.reason as Error);
        }),
      );
    },
    logger: silentLogger,
    lowDiskFloorBytes: 0,
    quietMs: 0,
    now: Date.now,
  });
  return { maintenance, started };
}

t.test('a push aborts maintenance of its repository, and none starts there before the push has ended', async (t) => {
  const givenUp: string[] = [];
  const { maintenance, started } = maintenanceAlone(givenUp);
  const packing = maintenance.pack('one');
  await waitUntil(() => started.length >= 1);
  await maintenance.aroundPush('other', async () => t.same(givenUp, [], 'a push elsewhere does not matter'));
  await maintenance.aroundPush('one', async () => {
    t.same(givenUp, ['one']);
    t.equal(await packing, false);
    t.equal(await maintenance.pack('one'), false, 'not beside a push');
    await maintenance.aroundPush('one', async () => {});
    t.equal(await maintenance.pack('one'), false, 'nor beside the first of two');
  });
  t.same(started, ['one']);
});

t.test('maintenance runs one repository at a time, in the order of requests', async (t) => {
  const { maintenance, started } = maintenanceAlone();
  const all = ['one', 'two', 'three'].map((name) => maintenance.pack(name));
  for (const name of ['one', 'two', 'three']) {
    await waitUntil(() => started.at(-1) === name);
    t.equal(started.at(-1), name);
    await maintenance.leave(name);
  }
  t.same(await Promise.all(all), [false, false, false]);
});

t.test('a repository that is never quiet is maintained after two hundred pushes', async (t) => {
  const ran: string[] = [];
  const repository = await deps.newRepository();
  gitSync(['fetch', '--quiet', sample, 'main:refs/heads/main'], { cwd: repository });
  const maintenance = createMaintenance({
    runner: {
      run: async ({ argv }: { argv: readonly string[] }) => (
        ran.push(argv[1]!), { code: 0, output: Buffer.alloc(0), errorText: '' }
      ),
    } as never,
    packAnew: async () => {},
    logger: silentLogger,
    lowDiskFloorBytes: 0,
    quietMs: 3_600_000,
    now: () => 0,
  });
  for (let turn = 0; turn < 199; turn += 1) maintenance.recordPush(repository);
  t.same([await maintenance.run(), ran], [0, []]);
  maintenance.recordPush(repository);
  t.equal(await maintenance.run(), 1);
  t.match(ran, ['pack-refs']);
  t.equal(await maintenance.run(), 0, 'and counts from the beginning');
});

t.test('pushes and clones work during maintenance', async (t) => {
  const repository = await deps.newRepository();
  mkdirSync(path.join(repository, 'refs', 'heads'), { recursive: true });
  await push(repository, 'main', main, 'main');
  gitSync(['--git-dir', repository, 'repack', '-dq']);
  const results = await Promise.all([
    deps.git.maintenance.run(),
    ...Array.from({ length: 6 }, (_, at) => push(repository, `p${at}`, topic, 'topic', '^main')),
    deps.git.maintenance.run(),
  ]);
  t.equal(results.filter((result) => typeof result === 'object' && result.outcome.kind === 'reported').length, 6);
  await deps.git.maintenance.run();
  t.equal((await deps.git.queries.cachedRefs(repository)).count('refs/heads/'), 7);
  gitSync(['--git-dir', repository, 'fsck', '--strict']);
  gitSync(['clone', '--quiet', '--mirror', repository, path.join(deps.folder, 'copy')]);
});

t.test('a removed repository is not maintained', async (t) => {
  const repository = await deps.newRepository();
  await push(repository, 'main', main, 'main');
  gitSync(['--git-dir', repository, 'repack', '-dq']);
  await push(repository, 'topic', topic, 'topic', '^main');
  const working = deps.git.maintenance.run();
  await deps.git.storage.remove(repository);
  await working;
  t.notOk(readdirSync(path.dirname(repository)).length);
  // A push is acknowledged while its git process is still exiting.
  await waitUntil(() => deps.git.load().writes.running === 0, 'the place of the push is free');
});
