// Pushes that may only fast-forward a ref: the proof is in the commits at the beginning of the pack.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PackCommitReader } from '../../src/git/pushes/pack-commit-reader.ts';
import { makeBareRepository } from '../fixtures/git-repositories.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment, gitSync, openGit } from './git-fixture.ts';
import {
  createHookRecorder,
  openPush,
  packOf,
  pushBytes,
  readResponse,
  sendPush,
  defaultCapabilities,
  zeroId,
} from './push-fixture.ts';

const main = 'refs/heads/main';
const reason = 'main is protected';
const guarded = () => createHookRecorder({ accept: true, remarks: [], onlyForward: [{ ref: main, reason }] });

/** A served repository that has `main`, and a work tree where further commits are made. */
async function serve(t: Owner) {
  const { git, folder, newRepository } = await openGit(t);
  const served = await newRepository();
  const work = path.join(folder, 'work');
  gitSync(['init', '--quiet', '--initial-branch=main', work]);
  const commit = (text: string) => {
    writeFileSync(path.join(work, 'file'), text);
    gitSync(['add', '.'], { cwd: work });
    gitSync(['commit', '--quiet', `--message=${text}`], { cwd: work });
    return gitSync(['rev-parse', 'HEAD'], { cwd: work });
  };
  const ids = ['one', 'two', 'three'].map(commit);
  await sendPush(git, served, pushBytes({ commands: [`${zeroId} ${ids[2]} ${main}`], pack: packOf(work, ids[2]!) }));
  return {
    git,
    served,
    work,
    commit,
    ids,
    reset: (to: string) => gitSync(['reset', '--quiet', '--hard', to], { cwd: work }),
    objects: () => gitSync(['--git-dir', served, 'count-objects', '-v']),
    tip: async (ref = main) => (await git.refs.list(served)).get(ref),
  };
}

t.test('a fast-forward passes: one commit, many, and a merge', async (t) => {
  const { git, served, work, commit, ids, tip } = await serve(t);
  let from = ids[2]!;
  const push = async () => {
    const to = gitSync(['rev-parse', 'HEAD'], { cwd: work });
    const seen = guarded();
    await sendPush(
      git,
      served,
      pushBytes({ commands: [`${from} ${to} ${main}`], pack: packOf(work, to, `^${from}`) }),
      seen,
    );
    t.same(seen.results, [[{ ref: main, ok: true }]]);
    t.equal(await tip(), to);
    from = to;
  };
  commit('four');
  await push();
  for (let n = 0; n < 60; n++) commit(`more ${n}`);
  await push();
  gitSync(['checkout', '--quiet', '-b', 'side', ids[0]!], { cwd: work });
  commit('aside');
  gitSync(['merge', '--quiet', '--strategy=ours', '--message=together', 'main'], { cwd: work });
  await push();
});

t.test(
  'a rewritten branch is refused before git stores objects, with the reason and a settled journal; others are accepted',
  async (t) => {
    const { git, served, work, commit, ids, reset, objects, tip } = await serve(t);
    const before = objects();
    reset(ids[1]!);
    const other = commit('three, but different');
    const seen = guarded();
    const commands = [`${ids[2]} ${other} ${main}`, `${zeroId} ${other} refs/heads/new`];
    const pack = packOf(work, other, `^${ids[1]}`);
    const push = (capabilities: string, count: number) =>
      sendPush(git, served, pushBytes({ commands: commands.slice(0, count), pack, capabilities }), seen);
    const report = ['unpack ok', `ng ${main} ${reason}`, 'ng refs/heads/new atomic push failure', 'flush'];

    const alone = await push(defaultCapabilities, 1);
    t.equal(alone.outcome.kind, 'refused');
    t.same(readResponse(alone.response).report, [...report.slice(0, 2), 'flush']);
    const atomic = await push(`${defaultCapabilities} atomic`, 2);
    t.equal(atomic.outcome.kind, 'refused');
    t.same(readResponse(atomic.response).report, report);
    t.match(seen.results, [
      [{ ref: main, ok: false, reason }],
      [
        { ref: main, ok: false, reason },
        { ref: 'refs/heads/new', ok: false },
      ],
    ]);
    t.equal(objects(), before, 'no object stays');
    t.equal(await tip('refs/heads/new'), undefined);

    const { response } = await push(defaultCapabilities, 2);
    t.same(readResponse(response).report, ['unpack ok', `ng ${main} ${reason}`, 'ok refs/heads/new', 'flush']);
    t.same(seen.results.at(-1), [
      { ref: main, ok: false, reason },
      { ref: 'refs/heads/new', ok: true },
    ]);
    t.equal(await tip(), ids[2]);
    t.equal(await tip('refs/heads/new'), other);
  },
);

t.test('the server moves a ref only from the value it was told, and knows a fast-forward of any length', async (t) => {
  const { git, served, work, commit, ids, tip } = await serve(t);
  for (let n = 0; n < 40; n++) commit(`more ${n}`);
  const far = gitSync(['rev-parse', 'HEAD'], { cwd: work });
  await sendPush(
    git,
    served,
    pushBytes({ commands: [`${ids[2]} ${far} ${main}`], pack: packOf(work, far, `^${ids[2]}`) }),
  );
  t.equal(await git.refs.isForward(served, ids[0]!, far), true);
  t.equal(await git.refs.isForward(served, far, ids[0]!), false);

  const stale = { ref: main, oldId: ids[2]!, newId: ids[0]! };
  t.strictSame(await git.refs.move(served, [stale]), [{ ref: main, ok: false, reason: 'it has moved meanwhile' }]);
  t.equal(await tip(), far);
  const created = { ref: 'refs/heads/new', oldId: zeroId, newId: far };
  t.strictSame(await git.refs.move(served, [stale, created]), [
    { ref: main, ok: false, reason: 'it has moved meanwhile' },
    { ref: 'refs/heads/new', ok: true },
  ]);
  t.equal(await tip(), far, 'nor when each is tried alone');
  t.strictSame(await git.refs.move(served, [{ ...stale, oldId: far }]), [{ ref: main, ok: true }]);
  t.equal(await tip(), ids[0]);
});

t.test('a reset to an existing commit is refused, too, and so is unrelated history', async (t) => {
  const { git, served, work, commit, ids, tip } = await serve(t);
  for (const to of [ids[0]!, ids[1]!]) {
    const { response } = await sendPush(
      git,
      served,
      pushBytes({ commands: [`${ids[2]} ${to} ${main}`], pack: packOf(work, to, `^${to}`) }),
      guarded(),
    );
    t.same(readResponse(response).report[1], `ng ${main} ${reason}`);
  }
  gitSync(['checkout', '--quiet', '--orphan', 'fresh'], { cwd: work });
  const orphan = commit('nothing before');
  const { response } = await sendPush(
    git,
    served,
    pushBytes({ commands: [`${ids[2]} ${orphan} ${main}`], pack: packOf(work, orphan) }),
    guarded(),
  );
  t.same(readResponse(response).report[1], `ng ${main} ${reason}`);
  t.equal(await tip(), ids[2]);
});

t.test('other branches of the same push may be rewritten: only refs with a rule are checked', async (t) => {
  const { git, served, work, commit, ids, reset, tip } = await serve(t);
  const topic = 'refs/heads/topic';
  await sendPush(
    git,
    served,
    pushBytes({ commands: [`${zeroId} ${ids[2]} ${topic}`], pack: packOf(work, ids[2]!, `^${ids[2]}`) }),
  );
  const next = commit('four');
  reset(ids[0]!);
  const rewritten = commit('another two');
  const commands = [`${ids[2]} ${next} ${main}`, `${ids[2]} ${rewritten} ${topic}`];
  const seen = guarded();
  await sendPush(git, served, pushBytes({ commands, pack: packOf(work, next, rewritten, `^${ids[2]}`) }), seen);
  t.same(seen.results, [
    [
      { ref: main, ok: true },
      { ref: topic, ok: true },
    ],
  ]);
  t.equal(await tip(), next);
  t.equal(await tip(topic), rewritten);
});

t.test('when the commits come last in the pack, git itself refuses and the reason is a remark', async (t) => {
  const { git, served, work, commit, ids, reset, tip } = await serve(t);
  const listed = (...revisions: string[]) =>
    gitSync(['rev-list', '--objects', ...revisions], { cwd: work })
      .split('\n')
      .map((line) => line.split(' ')[0]!)
      .reverse();
  const packOfList = (objects: string[]) =>
    execFileSync('git', ['pack-objects', '--stdout', '--quiet'], {
      cwd: work,
      env: clientEnvironment,
      input: `${objects.join('\n')}\n`,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  reset(ids[1]!);
  const other = commit('rewritten');
  const pack = packOfList(listed(other, `^${ids[1]}`));
  const refused = await sendPush(git, served, pushBytes({ commands: [`${ids[2]} ${other} ${main}`], pack }), guarded());
  t.same(readResponse(refused.response).report, ['unpack ok', `ng ${main} non-fast-forward`, 'flush']);
  t.match(readResponse(refused.response).remarks, reason);
  t.equal(await tip(), ids[2]);

  reset(ids[2]!);
  const next = commit('forward');
  const seen = guarded();
  await sendPush(
    git,
    served,
    pushBytes({ commands: [`${ids[2]} ${next} ${main}`], pack: packOfList(listed(next, `^${ids[2]}`)) }),
    seen,
  );
  t.same(seen.results, [[{ ref: main, ok: true }]]);
});

t.test('a false old id has no effect: git compares it with the ref', async (t) => {
  const { git, served, work, commit, ids, reset, tip } = await serve(t);
  reset(ids[0]!);
  const other = commit('beside');
  for (const claimed of [ids[0], zeroId]) {
    const seen = guarded();
    await sendPush(
      git,
      served,
      pushBytes({ commands: [`${claimed} ${other} ${main}`], pack: packOf(work, other, `^${ids[0]}`) }),
      seen,
    );
    t.match(seen.results, [[{ ref: main, ok: false }]]);
  }
  t.equal(await tip(), ids[2]);
});

t.test(
  'a pack that comes byte by byte, and a client that leaves during the check, end as without the rule',
  async (t) => {
    const { git, served, work, commit, ids, tip } = await serve(t);
    const next = commit('four');
    const bytes = pushBytes({ commands: [`${ids[2]} ${next} ${main}`], pack: packOf(work, next, `^${ids[2]}`) });
    const leaving = openPush(git, served, guarded());
    leaving.input.write(bytes.subarray(0, bytes.length - 200));
    await new Promise((resolve) => setImmediate(resolve));
    leaving.gone.abort(new Error('gone'));
    leaving.input.destroy();
    await leaving.outcome.catch(() => {});
    t.equal(await tip(), ids[2]);

    const seen = guarded();
    const slow = openPush(git, served, seen);
    for (const byte of bytes) slow.input.write(Buffer.of(byte));
    slow.input.end();
    await slow.outcome;
    t.same(seen.results, [[{ ref: main, ok: true }]]);
  },
);

/** Feeds a pack in chunks and returns what was parsed. */
function readPack(pack: Buffer, idBytes: number, chunkBytes: number): PackCommitReader {
  const commits = new PackCommitReader(idBytes);
  for (let at = 0; at < pack.length; at += chunkBytes) commits.push(pack.subarray(at, at + chunkBytes));
  return commits;
}

t.test('all commits of a pack are parsed, with both kinds of deltas, in chunks of any size', async (t) => {
  const folder = temporaryFolder(t);
  const repository = await makeBareRepository(folder, { commits: 120 });
  const lines = gitSync(['rev-list', '--parents', 'main'], { cwd: repository })
    .split('\n')
    .map((line) => line.split(' '));
  for (const more of [[], ['--delta-base-offset']]) {
    const pack = execFileSync(
      'git',
      ['pack-objects', '--revs', '--stdout', '--quiet', '--no-reuse-delta', '--depth=50', ...more],
      {
        cwd: repository,
        env: clientEnvironment,
        input: 'main\n',
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    for (const chunkBytes of [pack.length, 64 * 1024, 997, 40]) {
      const commits = readPack(pack, 20, chunkBytes);
      const wrong = lines.filter(([id, ...parents]) => commits.parentsOf(id!)?.join() !== parents.join());
      t.same(wrong, [], `${more.join()} in chunks of ${chunkBytes}`);
    }
  }
  t.equal(new PackCommitReader(20).parentsOf(lines[0]![0]!), undefined);
});

t.test('SHA-256 repositories are supported', async (t) => {
  const folder = temporaryFolder(t);
  gitSync(['init', '--quiet', '--object-format=sha256', '--initial-branch=main', folder]);
  for (const text of ['one', 'two'])
    gitSync(['commit', '--quiet', '--allow-empty', `--message=${text}`], { cwd: folder });
  const [tip, parent] = gitSync(['rev-list', 'main'], { cwd: folder }).split('\n');
  t.same(readPack(packOf(folder, 'main'), 32, 100).parentsOf(tip!), [parent]);
});

t.test('damaged packs yield no wrong commits and no crash', async (t) => {
  const folder = temporaryFolder(t);
  const repository = await makeBareRepository(folder, { commits: 30 });
  const truth = new Map(
    gitSync(['rev-list', '--parents', 'main'], { cwd: repository })
      .split('\n')
      .map((line) => [line.slice(0, 40), line.slice(41)]),
  );
  const pack = packOf(repository, 'main');
  const random = seededRandom(3);
  let learned = 0;
  for (let round = 0; round < 600; round++) {
    const damaged = Buffer.from(pack.subarray(0, random.chance(0.2) ? random.below(pack.length) : pack.length));
    for (let count = 1 + random.below(4); count > 0; count--)
      damaged[random.below(Math.min(2500, damaged.length))] = random.below(256);
    const commits = readPack(damaged, 20, 500);
    for (const [id, parents] of truth) {
      const known = commits.parentsOf(id)?.join(' ');
      if (known !== undefined) learned += 1;
      if (known !== undefined && known !== parents) t.fail(`round ${round}`);
    }
  }
  t.ok(learned > 0 && learned < 600 * 30);
});
