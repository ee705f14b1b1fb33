// Unreachable objects are reported as missing: in fetches of every version, and by name.
import { PassThrough, Readable } from 'node:stream';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { errorWithReason, gitSync, openGit } from './git-fixture.ts';
import { encodePacket, flushPacket } from '../../src/git/index.ts';

const deps = await openGit(t);
const work = temporaryFolder(t);
const run = (...args: string[]) => gitSync(args, { cwd: work });

/**
 * A repository where `main` lost its last commit, a branch and a tag are gone, and one commit is under a hidden ref.
 */
async function oneThatLost() {
  const repository = await deps.newRepository();
  const inside = (...args: string[]) => gitSync([`--git-dir=${repository}`, ...args]);
  run('init', '--quiet', '--initial-branch=main');
  const commit = (word: string, folder = 'docs') => {
    mkdirSync(path.join(work, folder), { recursive: true });
    writeFileSync(path.join(work, folder, 'file'), `${word}\n`);
    run('add', '.');
    run('commit', '--quiet', `--message=${word}`);
    return {
      commit: run('rev-parse', 'HEAD'),
      tree: run('rev-parse', 'HEAD^{tree}'),
      blob: run('rev-parse', `HEAD:${folder}/file`),
    };
  };
  const [first, second] = [commit('one'), commit('two')];
  run('tag', '--annotate', '--message=kept', 'v1');
  const pushedAway = commit('secret');
  run('tag', '--annotate', '--message=deleted', 'v2');
  const [preserved, deleted] = [run('rev-parse', 'v1'), run('rev-parse', 'v2')];
  run('checkout', '--quiet', '-b', 'topic', first.commit);
  const hidden = commit('hidden', 'more');
  run('push', '--quiet', repository, 'main', 'v1', 'v2', 'topic', 'topic:refs/hearth/kept');
  run(
    'push',
    '--quiet',
    '--force',
    repository,
    `${second.commit}:refs/heads/main`,
    ':refs/tags/v2',
    ':refs/heads/topic',
  );
  return {
    repository,
    inside,
    first,
    second,
    preserved,
    visible: [first, second].flatMap((each) => Object.values(each)),
    lost: [pushedAway, hidden].flatMap((each) => Object.values(each)),
    deleted,
  };
}

/** The response to a client that asks for these ids, in version 2 or, without a shallow clone, in version 0. */
async function fetchIds(
  repository: string,
  ids: readonly string[],
  { version = 2, stateless = true } = {},
): Promise<string> {
  const lines = ids.map((id) => encodePacket(`want ${id}\n`));
  const request =
    version === 2
      ? [
          encodePacket('command=fetch'),
          encodePacket('object-format=sha1'),
          Buffer.from('0001'),
          encodePacket('no-progress'),
          ...lines,
          encodePacket('done\n'),
          flushPacket,
        ]
      : [...lines, flushPacket, encodePacket('done\n')];
  const input = stateless ? Readable.from([Buffer.concat(request)], { objectMode: false }) : new PassThrough();
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!stateless) {
    (input as PassThrough).write(Buffer.concat(request));
    (input as PassThrough).end(flushPacket);
  }
  const protocol = version === 2 ? 'version=2' : null;
  await deps.git.transfers
    .uploadPack({ path: repository, protocol, input, output, stateless, signal: new AbortController().signal })
    .catch(() => null);
  return Buffer.concat(chunks).toString('latin1');
}

const fixture = await oneThatLost();
const { repository } = fixture;
const others = [...fixture.lost, fixture.deleted];

for (const [how, prepare] of [
  ['single packs', () => {}],
  [
    'a bitmap',
    () =>
      gitSync([
        `--git-dir=${repository}`,
        'repack',
        '--quiet',
        '--geometric=2',
        '-d',
        '--write-midx',
        '--write-bitmap-index',
      ]),
  ],
] as const) {
  t.test(
    `SECURITY A06: with ${how}, a fetch gets objects of any type that are reachable from visible refs, and no others`,
    async (t) => {
      prepare();
      for (const id of [...fixture.visible, fixture.preserved])
        t.match(await fetchIds(repository, [id]), 'packfile', `${id} is there`);
      for (const id of others) {
        t.equal(fixture.inside('cat-file', '-t', id).length > 0, true, 'the object still lies there');
        t.match(await fetchIds(repository, [id]), new RegExp(`ERR upload-pack: not our ref ${id}$`));
        t.notMatch(await fetchIds(repository, [fixture.second.commit, id]), 'PACK', 'nor beside what is allowed');
        t.notMatch(await fetchIds(repository, [id], { stateless: false }), 'PACK', 'nor in a conversation');
        t.notMatch(await fetchIds(repository, [id], { version: 0 }), 'PACK', 'nor in version 0');
      }
      const absent = '1'.repeat(40);
      t.equal(
        await fetchIds(repository, [absent]),
        (await fetchIds(repository, [others[0]!])).replace(others[0]!, absent),
        'hidden and absent answer the same',
      );
    },
  );
}

t.test('SECURITY A06: a moved ref changes reachability at once', async (t) => {
  const [lost] = others as [string];
  fixture.inside('update-ref', 'refs/heads/back', lost);
  t.match(await fetchIds(repository, [lost]), 'PACK');
  t.equal(await deps.git.refs.resolve(repository, lost), lost);
  fixture.inside('update-ref', '-d', 'refs/heads/back');
  t.match(await fetchIds(repository, [lost]), 'not our ref');
  await t.rejects(deps.git.refs.resolve(repository, lost), errorWithReason('revision_not_found'));
});

t.test(
  'SECURITY A06: a commit id resolves only when it is reachable, or for people who may see unreachable commits',
  async (t) => {
    const { queries, refs } = deps.git;
    for (const { commit } of [fixture.first, fixture.second]) {
      t.equal(await refs.resolve(repository, commit.slice(0, 12)), commit);
      t.equal((await queries.resolveRefPath(repository, Buffer.from(`${commit}/docs`))).oid, commit);
    }
    for (const commit of [others[0]!, others[3]!]) {
      for (const name of [commit, commit.slice(0, 12)]) {
        await t.rejects(refs.resolve(repository, name), errorWithReason('revision_not_found'));
        await t.rejects(
          queries.resolveRefPath(repository, Buffer.from(`${name}/docs`)),
          errorWithReason('revision_not_found'),
        );
        t.equal(await refs.resolve(repository, name, { includeUnreachable: true }), commit);
        t.equal(
          (await queries.resolveRefPath(repository, Buffer.from(name), { includeUnreachable: true })).oid,
          commit,
        );
      }
    }
    await t.rejects(
      refs.resolve(repository, fixture.deleted),
      errorWithReason('revision_not_found'),
      'a tag note that no tag names',
    );
  },
);

t.test(
  'a branch that looks like an abbreviated id is a branch, one that looks like a whole id has its full name',
  async (t) => {
    const [whole, abbreviated] = [others[0]!, others[0]!.slice(0, 10)];
    for (const name of [whole, abbreviated]) fixture.inside('update-ref', `refs/heads/${name}`, fixture.first.commit);
    const { refs, queries } = deps.git;
    t.equal(await refs.resolve(repository, abbreviated), fixture.first.commit);
    t.equal((await queries.resolveRefPath(repository, Buffer.from(abbreviated))).kind, 'branch');
    await t.rejects(refs.resolve(repository, whole), errorWithReason('revision_not_found'));
    await t.rejects(queries.resolveRefPath(repository, Buffer.from(whole)), errorWithReason('revision_not_found'));
    for (const name of [whole, abbreviated])
      t.equal(await refs.resolve(repository, `refs/heads/${name}`), fixture.first.commit);
  },
);

t.test('the commit-graph proves commits reachable, and never one that no ref leads to', async (t) => {
  const repository = await deps.newRepository();
  const inside = (...args: string[]) => gitSync([`--git-dir=${repository}`, ...args]);
  const tree = inside('hash-object', '-t', 'tree', '-w', '/dev/null');
  // A history with merges and side branches, from a fixed sequence.
  const all: string[] = [];
  let state = 7;
  const pick = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  for (let count = 0; count < 120; count += 1) {
    const parents = count === 0 ? [] : [all[all.length - 1 - pick(Math.min(6, all.length))]!];
    if (count > 5 && pick(4) === 0) parents.push(all[pick(all.length)]!);
    const named = [...new Set(parents)].flatMap((parent) => ['-p', parent]);
    all.push(inside('commit-tree', tree, ...named, '-m', `commit ${count}`));
  }
  for (const [at, oid] of all.entries()) inside('update-ref', `refs/heads/b${String(at).padStart(3, '0')}`, oid);
  inside('commit-graph', 'write', '--reachable');
  const keep = (names: readonly string[]) => {
    for (const name of inside('for-each-ref', '--format=%(refname)').split('\n'))
      if (!names.includes(name)) inside('update-ref', '-d', name);
  };
  for (const tips of [[110, 95, 80, 41], [95, 41], [41]]) {
    keep(tips.map((at) => `refs/heads/b${String(at).padStart(3, '0')}`));
    inside('symbolic-ref', 'HEAD', `refs/heads/b${String(tips[0]).padStart(3, '0')}`);
    const reachable = new Set(inside('rev-list', '--all').split('\n'));
    t.ok(reachable.size < all.length, 'the graph has commits that no ref leads to any more');
    for (const oid of all) {
      const named = await deps.git.refs.resolve(repository, oid).catch(() => null);
      if ((named === oid) !== reachable.has(oid)) t.fail(`${oid} is ${reachable.has(oid) ? '' : 'not '}reachable`);
    }
    t.same([...(await deps.git.objects.namedCommits(repository, all)).values()].sort(), [...reachable].sort());
  }
});
