import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { gitSync, openGit, sampleRepository } from './git-fixture.ts';
import { packOf, pushBytes, sendPush, zeroId } from './push-fixture.ts';

const sample = sampleRepository();
const [main, topic] = ['main', 'topic'].map((name) => gitSync(['rev-parse', name], { cwd: sample })) as [string, string];
const room = await openGit(t, { limits: { upkeepQuietMs: 0 } });

const packFiles = (repository: string) => readdirSync(path.join(repository, 'objects', 'pack'));
const push = (repository: string, branch: string, id: string, ...revisions: string[]) =>
  sendPush(room.git, repository, pushBytes({ commands: [`${zeroId} ${id} refs/heads/${branch}`], pack: packOf(sample, ...revisions) }));

t.test('a repository that is pushed to gets packs with a bitmap and packed refs, and loses nothing', async (t) => {
  const repository = await room.newRepository();
  gitSync(['fetch', '--quiet', sample, 'main:refs/heads/before'], { cwd: repository });
  gitSync(['--git-dir', repository, 'repack', '-adq']);
  for (let at = 0; at < 120; at += 1) writeFileSync(path.join(repository, 'refs', 'heads', `b${at}`), `${main}\n`);
  const lost = gitSync(['--git-dir', repository, 'hash-object', '-w', '--stdin'], { input: 'nothing reaches this' });
  t.equal(await room.git.maintain(), 0, 'nobody has pushed');
  const pushed = await push(repository, 'topic', topic, 'topic', '^main');
  t.match(pushed.outcome, { kind: 'reported', results: [{ ok: true }] });
  const before = gitSync(['--git-dir', repository, 'for-each-ref']);
  t.equal(await room.git.maintain(), 1);
  t.ok(packFiles(repository).some((name) => name.endsWith('.bitmap')));
  t.same(readdirSync(path.join(repository, 'refs', 'heads')), []);
  t.equal(gitSync(['--git-dir', repository, 'for-each-ref']), before);
  t.equal(gitSync(['--git-dir', repository, 'cat-file', 'blob', lost]), 'nothing reaches this');
  gitSync(['--git-dir', repository, 'fsck', '--strict']);
  t.equal(await room.git.maintain(), 0, 'and is left alone afterwards');
});

t.test('what is fast enough is left as it is', async (t) => {
  const repository = await room.newRepository();
  await push(repository, 'main', main, 'main');
  t.equal(await room.git.maintain(), 0);
  t.same(packFiles(repository).filter((name) => !name.startsWith('pack-')), []);
});

t.test('pushes and clones go on beside it', async (t) => {
  const repository = await room.newRepository();
  mkdirSync(path.join(repository, 'refs', 'heads'), { recursive: true });
  await push(repository, 'main', main, 'main');
  gitSync(['--git-dir', repository, 'repack', '-dq']);
  const results = await Promise.all([
    room.git.maintain(),
    ...Array.from({ length: 6 }, (_, at) => push(repository, `p${at}`, topic, 'topic', '^main')),
    room.git.maintain(),
  ]);
  t.equal(results.filter((result) => typeof result === 'object' && result.outcome.kind === 'reported').length, 6);
  await room.git.maintain();
  t.equal((await room.git.branches(repository)).length, 7);
  gitSync(['--git-dir', repository, 'fsck', '--strict']);
  gitSync(['clone', '--quiet', '--mirror', repository, path.join(room.folder, 'copy')]);
});

t.test('a repository that goes away is not worked on', async (t) => {
  const repository = await room.newRepository();
  await push(repository, 'main', main, 'main');
  gitSync(['--git-dir', repository, 'repack', '-dq']);
  await push(repository, 'topic', topic, 'topic', '^main');
  const working = room.git.maintain();
  await room.git.removeRepository(repository);
  await working;
  t.notOk(readdirSync(path.dirname(repository)).length);
  t.equal(room.git.load().writes.running, 0);
});
