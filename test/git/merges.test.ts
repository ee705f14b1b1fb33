// Merges without a work tree agree with those of git merge, git rebase and git merge --squash.
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { errorWithReason, gitSync, openGit } from './git-fixture.ts';
import type { MergeStyle } from '../../src/git/index.ts';

const deps = await openGit(t);
const { merges, refs, objects } = deps.git;
const alice = { name: 'Alice', email: 'alice@example.org', at: Date.UTC(2026, 0, 2), offsetMinutes: 60 };
const bob = { name: 'Bob <b>\n', email: 'bob@example.org', at: Date.UTC(2026, 0, 3), offsetMinutes: -150 };
const identity = { message: 'Merge topic\n\nIts text.', author: alice, committer: bob };

/** A repository of the module and a work tree beside it. */
async function openPair(t: Parameters<typeof temporaryFolder>[0]) {
  const repository = await deps.newRepository();
  const work = temporaryFolder(t);
  const run = (...args: string[]) => gitSync(args, { cwd: work });
  run('init', '--quiet', '--initial-branch=main');
  const commit = (files: Record<string, string>, message = Object.keys(files).join(' ')) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
      writeFileSync(path.join(work, name), text);
    }
    run('add', '--all');
    run('commit', '--quiet', '--allow-empty', `--message=${message}`);
    return run('rev-parse', 'HEAD');
  };
  const push = () => run('push', '--quiet', '--force', repository, '--all');
  const inside = (...args: string[]) => gitSync([`--git-dir=${repository}`, ...args]);
  const leftovers = () => readdirSync(path.join(repository, 'objects')).filter((name) => name.startsWith('tmp_'));
  const merge = (style: MergeStyle, onto: string, head: string) =>
    merges.merge(repository, { style, onto, head, ...identity });
  return { repository, work, run, commit, push, inside, leftovers, merge };
}

const lines = (count: number, change: Record<number, string> = {}) =>
  Array.from({ length: count }, (_, at) => `${change[at] ?? `line ${at}`}\n`).join('');

t.test('each style makes the commits that its name says', async (t) => {
  const { repository, run, commit, push, inside, leftovers, merge } = await openPair(t);
  const first = commit({ a: lines(30), b: 'b\n' }, 'first');
  run('checkout', '--quiet', '-b', 'topic');
  commit({ a: lines(30, { 3: 'topic' }) }, 'change a');
  const head = commit({ c: 'new\n' }, 'add c\n\nWith a body.\n');
  run('checkout', '--quiet', 'main');
  const onto = commit({ a: lines(30, { 25: 'main' }) }, 'on main');
  push();
  const treeOfGit = (() => {
    run('checkout', '--quiet', '--detach', 'main');
    run('merge', '--quiet', '--no-ff', '--message=m', 'topic');
    return run('rev-parse', 'HEAD^{tree}');
  })();

  const merged = await merge('MERGE', onto, head);
  if (merged.kind !== 'merged') return void t.fail(merged.kind);
  t.equal(
    inside('cat-file', 'commit', merged.oid),
    [
      `tree ${treeOfGit}`,
      `parent ${onto}`,
      `parent ${head}`,
      'author Alice <alice@example.org> 1767312000 +0100',
      'committer Bob  b <bob@example.org> 1767398400 -0230',
      '',
      'Merge topic',
      '',
      'Its text.',
    ].join('\n'),
  );
  t.equal(merged.commits, 1);
  const squashed = await merge('SQUASH', onto, head);
  if (squashed.kind !== 'merged') return void t.fail(squashed.kind);
  t.equal(
    inside('log', '-1', '--format=%T %P %an %cn|%B', squashed.oid),
    `${treeOfGit} ${onto} Alice Bob  b|Merge topic\n\nIts text.`,
  );
  const rebased = await merge('REBASE', onto, head);
  if (rebased.kind !== 'merged') return void t.fail(rebased.kind);
  t.equal(rebased.commits, 2);
  t.equal(
    inside('log', '--format=%s|%b|%an|%cn', `${onto}..${rebased.oid}`),
    'add c|With a body.\n|Alice|Bob  b\nchange a||Alice|Bob  b',
  );
  t.equal(inside('rev-parse', `${rebased.oid}^{tree}`, `${rebased.oid}~2`), `${treeOfGit}\n${onto}`);
  t.strictSame(await merge('FORWARD', onto, head), { kind: 'not_forward' });
  t.strictSame(await merge('FORWARD', first, head), { kind: 'merged', oid: head, commits: 0 });
  t.strictSame(
    await merge('REBASE', first, head),
    { kind: 'merged', oid: head, commits: 0 },
    'ids stay where they can',
  );
  for (const style of ['MERGE', 'SQUASH', 'REBASE', 'FORWARD'] as const)
    t.strictSame(await merge(style, head, first), { kind: 'nothing' }, `${style} of what is there`);

  t.strictSame(leftovers(), []);
  t.equal(inside('fsck', '--strict', merged.oid, squashed.oid, rebased.oid), '', 'no other object was stored');
  const moves = [{ ref: 'refs/heads/main', oldId: onto, newId: merged.oid }];
  t.strictSame(await refs.move(repository, moves), [{ ref: 'refs/heads/main', ok: true }]);
  t.match(await objects.commit(repository, merged.oid), { parents: [onto, head], subject: 'Merge topic' });
});

t.test('conflicts are named by file and leave nothing behind', async (t) => {
  const { repository, run, commit, push, inside, leftovers, merge } = await openPair(t);
  commit({ a: lines(10), 'ünd/d': 'x\n', gone: lines(20) }, 'first');
  run('checkout', '--quiet', '-b', 'topic');
  commit({ other: 'o\n' }, 'fine');
  const bad = commit(
    { a: lines(10, { 4: 'topic' }), 'ünd/d': 'topic\n', gone: lines(20, { 1: 'topic' }) },
    'conflicts',
  );
  run('checkout', '--quiet', 'main');
  run('rm', '--quiet', 'gone');
  const onto = commit({ a: lines(10, { 4: 'main' }), 'ünd/d': 'main\n' }, 'main');
  push();
  const count = () => inside('count-objects', '-v');
  const before = count();
  for (const [style, commitId] of [
    ['MERGE', null],
    ['SQUASH', null],
    ['REBASE', bad],
  ] as const) {
    const outcome = await merge(style, onto, bad);
    t.match(outcome, { kind: 'conflict', commit: commitId }, style);
    if (outcome.kind === 'conflict')
      t.strictSame(
        outcome.files.map((file) => file.path),
        ['a', 'gone', 'ünd/d'],
      );
  }
  t.match(await merges.tryMerge(repository, { onto, head: bad }), { kind: 'conflict' });
  t.equal(count(), before, 'no object stays');
  t.strictSame(leftovers(), []);

  run('checkout', '--quiet', '--orphan', 'island');
  run('rm', '-r', '--quiet', '--force', '.');
  const island = commit({ z: 'z\n' }, 'island');
  push();
  t.strictSame(await merge('MERGE', onto, island), { kind: 'unrelated' });
  const rebasedRoot = await merge('REBASE', onto, island);
  t.match(rebasedRoot, { kind: 'merged', commits: 1 }, 'a root commit is applied, too');
  await t.rejects(merge('MERGE', onto, '1'.repeat(40)), { code: 'internal' });
  await t.rejects(merge('MERGE', onto, '--all'), errorWithReason('invalid_object_id'));
});

t.test('the text of conflicts is that of git merge, within limits, and leaves nothing behind', async (t) => {
  const { repository, work, run, commit, push, leftovers } = await openPair(t);
  const raw = Buffer.from('caf\xe9.txt', 'latin1');
  const far = { 100: 'far' };
  commit({
    'near.txt': lines(300),
    'gone.txt': lines(20),
    'crlf.txt': lines(20).replaceAll('\n', '\r\n'),
    'data.bin': `\0${lines(5)}`,
    'long.txt': lines(1_000),
    'huge.txt': `${'x'.repeat(200)}\n`.repeat(6_000),
  });
  const change = (side: string) => {
    writeFileSync(Buffer.concat([Buffer.from(`${work}/`), raw]), `${side}\n`);
    return commit(
      {
        'near.txt': lines(300, {
          5: side,
          9: side,
          50: `${side}\n<<<<<<< ${side}\n>>>>>>> ${side}`,
          299: side,
          ...far,
        }),
        'crlf.txt': lines(20, { 7: side }).replaceAll('\n', '\r\n'),
        'data.bin': `\0${side}`,
        'both.txt': lines(4, { 1: side }),
        'long.txt': lines(1_000, Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [at, `${side} ${at}`]))),
        'huge.txt': side + `${'x'.repeat(200)}\n`.repeat(6_000),
      },
      side,
    );
  };
  run('checkout', '--quiet', '-b', 'topic');
  change('topic');
  const head = commit({ 'gone.txt': lines(20, { 3: 'topic' }) }, 'change what main deletes');
  run('checkout', '--quiet', 'main');
  change('main');
  run('rm', '--quiet', 'gone.txt');
  const onto = commit({}, 'delete');
  push();
  const conflicts = await merges.conflicts(repository, { onto, head });
  t.same(leftovers(), []);
  t.equal(conflicts?.total, 8);
  t.same(
    conflicts?.files.map(({ rawPath, kind, cutShort }) => [rawPath.toString('latin1'), kind, cutShort]),
    [
      ['both.txt', 'marked', false],
      ['caf\xe9.txt', 'marked', false],
      ['crlf.txt', 'marked', false],
      ['data.bin', 'binary', false],
      ['gone.txt', 'gone_in_ours', false],
      ['huge.txt', 'too_large', false],
      ['long.txt', 'marked', true],
      ['near.txt', 'marked', false],
    ],
  );
  const files = new Map(conflicts?.files.map((file) => [file.path, file]));
  run('checkout', '--quiet', '--detach', onto);
  t.throws(() => run('merge', '--quiet', '--no-edit', head));
  for (const name of ['both.txt', 'crlf.txt', 'near.txt', 'long.txt']) {
    const ofGit = readFileSync(path.join(work, name), 'utf8').replaceAll('<<<<<<< HEAD', `<<<<<<< ${onto}`).split('\n');
    for (const { number, text } of files.get(name)!.hunks.flat())
      if (text.toString() !== ofGit[number - 1]) t.equal(text.toString(), ofGit[number - 1], `${name}:${number}`);
  }
  const kindsOf = (name: string) =>
    files.get(name)!.hunks.map((hunk) => hunk.map(({ kind, number }) => `${number}${kind[0]}`).join(' '));
  t.same(kindsOf('both.txt'), ['1c 2m 3o 4m 5t 6m 7c 8c']);
  t.equal(kindsOf('near.txt').length, 3, 'what is near is one');
  t.equal(
    files
      .get('near.txt')!
      .hunks.flat()
      .filter(({ kind }) => kind === 'mark').length,
    9,
  );
  t.ok(
    files
      .get('near.txt')!
      .hunks.flat()
      .some(({ kind, text }) => kind === 'ours' && text.toString() === '>>>>>>> main'),
    'what only looks like a mark is text',
  );
  t.equal(files.get('long.txt')!.hunks.flat().length, 200);
  t.equal(await merges.conflicts(repository, { onto, head }), conflicts, 'recalled');
  t.equal(await merges.conflicts(repository, { onto, head: onto }), null, 'there are none');
});

t.test('many heads are tried by one process, with the results that each has alone', async (t) => {
  const { repository, run, commit, push, leftovers } = await openPair(t);
  commit({ a: lines(10), b: lines(10) }, 'first');
  const heads: string[] = [];
  for (let number = 0; number < 60; number += 1) {
    run('checkout', '--quiet', '--detach', 'main');
    const change: Record<string, string> =
      number % 3 === 0 ? { a: lines(10, { 5: `topic ${number}` }) } : { [`new ${number}`]: 'new\n' };
    heads.push(commit(number % 6 === 0 ? { ...change, b: lines(10, { 1: 'topic' }) } : change, `topic ${number}`));
    run('branch', `topic-${number}`);
  }
  run('checkout', '--quiet', '--orphan', 'island');
  const island = commit({ z: 'z\n' }, 'island');
  run('checkout', '--quiet', 'main');
  const onto = commit({ a: lines(10, { 5: 'main' }), b: lines(10, { 1: 'main' }) }, 'main');
  push();
  // git ends at a head without common history: those behind it in the same process are tried alone.
  await merges.tryMerges(repository, onto, [...heads.slice(0, 30), island, ...heads.slice(30)]);
  t.same(leftovers(), []);
  const aside = `${repository}-aside`;
  renameSync(repository, aside);
  const known = await Promise.all(
    heads.map((head) => merges.tryMerge(repository, { onto, head }).catch((error: unknown) => error)),
  );
  rmSync(repository, { recursive: true });
  renameSync(aside, repository);
  t.equal(known.filter((each) => !(each instanceof Error)).length, 25 + 5 + 11, 'recalled from memory');
  for (const [at, head] of heads.entries()) {
    const alone = await merges.tryMerge(repository, { onto, head });
    if (!(known[at] instanceof Error)) t.same(known[at], alone);
    const conflicts = at % 6 === 0 ? ['a', 'b'] : at % 3 === 0 ? ['a'] : undefined;
    t.same(alone.kind === 'conflict' ? alone.files.map(({ path }) => path) : undefined, conflicts);
  }
  t.match(await merges.tryMerge(repository, { onto, head: island }), { kind: 'unrelated' });
});

t.test('a rebase leaves out what the branch has, keeps authors, encodings and empty commits', async (t) => {
  const { run, work, commit, push, inside, merge } = await openPair(t);
  commit({ a: lines(10) }, 'first');
  run('checkout', '--quiet', '-b', 'topic');
  const same = commit({ b: 'b\n' }, 'same');
  gitSync(['-c', 'i18n.commitEncoding=ISO-8859-1', 'commit', '--quiet', '--allow-empty', '--file=-'], {
    cwd: work,
    input: Buffer.from('gr\xfc\xdfe', 'latin1'),
    env: { GIT_AUTHOR_NAME: 'Carol', GIT_AUTHOR_EMAIL: 'carol@example.org', GIT_AUTHOR_DATE: '1234567890 -0700' },
  });
  const head = commit({ c: 'c\n' }, 'last');
  run('checkout', '--quiet', 'main');
  commit({ d: 'd\n' }, 'on main');
  run('cherry-pick', same);
  const onto = run('rev-parse', 'HEAD');
  push();
  const outcome = await merge('REBASE', onto, head);
  if (outcome.kind !== 'merged') return void t.fail(outcome.kind);
  t.equal(
    inside('log', '--reverse', '--format=%s|%an <%ae> %ad|%e', '--date=raw', `${onto}..${outcome.oid}`),
    'grüße|Carol <carol@example.org> 1234567890 -0700|ISO-8859-1\nlast|Alice <alice@example.org> 1767319445 +0100|',
  );
  t.equal(outcome.commits, 2);
});

t.test('sixty generated merges give the trees that git merge gives', async (t) => {
  const { repository, run, commit, push, inside } = await openPair(t);
  const random = seededRandom(18);
  const pick = (count: number) => random.below(count);
  const files = Array.from({ length: 8 }, (_, at) => `dir${at % 3}/file${at}`);
  commit(Object.fromEntries(files.map((name) => [name, lines(60)])), 'first');
  const change = () => {
    const name = files[pick(files.length)]!;
    return commit({ [name]: lines(60, { [pick(60)]: `changed ${pick(1000)}` }) });
  };
  const pairs: { onto: string; head: string; tree: string | null }[] = [];
  for (let round = 0; round < 60; round += 1) {
    run('checkout', '--quiet', '-B', 'topic', 'main');
    for (let at = 0; at <= pick(3); at += 1) change();
    const head = run('rev-parse', 'HEAD');
    run('checkout', '--quiet', 'main');
    for (let at = 0; at <= pick(3); at += 1) change();
    const onto = run('rev-parse', 'HEAD');
    let tree: string | null = null;
    try {
      run('merge', '--quiet', '--no-ff', '--message=merge', head);
      tree = run('rev-parse', 'HEAD^{tree}');
    } catch {
      run('merge', '--abort');
    }
    run('tag', `t${round}`, head);
    pairs.push({ onto, head, tree });
  }
  run('push', '--quiet', repository, '--tags');
  push();
  for (const { onto, head, tree } of pairs) {
    const outcome = await merges.merge(repository, { style: 'MERGE', onto, head, ...identity });
    if (outcome.kind === 'merged') t.equal(inside('rev-parse', `${outcome.oid}^{tree}`), tree);
    else t.equal(tree, null, outcome.kind);
  }
  t.ok(pairs.filter(({ tree }) => tree !== null).length > 30);
});

t.test('two versions of a series are compared without what a rebase brought', async (t) => {
  const { repository, run, commit, push, inside, leftovers } = await openPair(t);
  const base = commit({ a: lines(40), b: lines(5) }, 'base');
  run('checkout', '--quiet', '-b', 'topic');
  commit({ a: lines(40, { 3: 'one' }) }, 'one');
  const head = commit({ c: 'c\n' }, 'two');
  run('checkout', '--quiet', 'main');
  const later = commit({ a: lines(40, { 35: 'main' }), b: lines(6) }, 'main');
  run('checkout', '--quiet', '-b', 'rebased', 'topic');
  run('rebase', '--quiet', 'main');
  const rebased = run('rev-parse', 'HEAD');
  const edited = commit({ c: 'changed\n' }, 'three');
  run('branch', 'edited');
  push();
  t.strictSame(
    await merges.tryCarry(repository, { base, head }, later),
    { kind: 'clean', tree: inside('rev-parse', `${rebased}^{tree}`) },
    'a mere rebase changes nothing',
  );
  const limits = { files: 10, linesPerFile: 100, bytesPerLine: 100, bytes: 10_000 };
  const diff = (after: string, request = {}) =>
    merges.carriedDiff(repository, {
      before: { base, head },
      after: { base: later, head: after },
      limits,
      ...request,
    });
  const same = await diff(rebased);
  t.equal(same.kind === 'clean' && same.files.length, 0);
  const changed = await diff(edited);
  if (changed.kind !== 'clean') return void t.fail(changed.kind);
  t.strictSame(
    changed.patches.map(({ file, hunks }) => [
      `${file.newPath}`,
      hunks.flatMap(({ lines }) => lines).map(({ kind, text }) => `${kind} ${text}`),
    ]),
    [['c', ['removed c', 'added changed']]],
    'only the change of the author',
  );
  t.match(await diff(edited, { only: Buffer.from('a') }), { files: { length: 1 }, patches: [] });
  t.strictSame(
    (await merges.pairCommits(repository, { base, head }, { base: later, head: edited })).map(({ kind }) => kind),
    ['equal', 'equal', 'added'],
  );
  t.strictSame(await merges.tryCarry(repository, { base, head }, base), {
    kind: 'clean',
    tree: inside('rev-parse', `${head}^{tree}`),
  });
  t.strictSame(leftovers(), []);
});

t.test('a version that conflicts with the base of the next one is compared with its marks', async (t) => {
  const { repository, run, commit, push, inside, leftovers } = await openPair(t);
  const base = commit({ a: lines(10) }, 'base');
  run('checkout', '--quiet', '-b', 'topic');
  const head = commit({ a: lines(10, { 3: 'topic' }) }, 'one');
  run('checkout', '--quiet', 'main');
  const later = commit({ a: lines(10, { 3: 'main' }) }, 'main');
  run('checkout', '--quiet', '-b', 'solved');
  const solved = commit({ a: lines(10, { 3: 'both' }) }, 'one');
  push();
  const objectsBefore = inside('count-objects');
  const diff = await merges.carriedDiff(repository, {
    before: { base, head },
    after: { base: later, head: solved },
    limits: { files: 10, linesPerFile: 100, bytesPerLine: 100, bytes: 10_000 },
  });
  if (diff.kind !== 'conflict') return void t.fail(diff.kind);
  t.strictSame(
    diff.conflicts.map((file) => file.path),
    ['a'],
  );
  const removed = diff.patches[0]!.hunks.flatMap(({ lines }) => lines).filter(({ kind }) => kind === 'removed');
  t.match(`${removed.map(({ text }) => text).join('\n')}`, /^<<<<<<< [^]*\nmain\n=======\ntopic\n>>>>>>> /);
  t.equal(inside('count-objects'), objectsBefore, 'the repository keeps none of its objects');
  t.strictSame(leftovers(), []);
});

t.test('a signed merge commit is one that git verifies', async (t) => {
  const { repository, run, commit, push, inside } = await openPair(t);
  const onto = commit({ a: '1\n' }, 'first');
  run('checkout', '--quiet', '-b', 'topic');
  const head = commit({ b: '1\n' }, 'second');
  push();
  const payloads: Buffer[] = [];
  const sign = async (payload: Buffer) => {
    payloads.push(payload);
    return '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n';
  };
  const outcome = await merges.merge(repository, { style: 'MERGE', onto, head, ...identity, sign });
  if (outcome.kind !== 'merged') return void t.fail(outcome.kind);
  const { signature } = await objects.commit(repository, outcome.oid);
  t.equal(signature?.kind, 'ssh');
  t.strictSame(signature?.signed, payloads[0], 'what was signed is what a verifier reads');
  t.equal(inside('fsck', '--strict', outcome.oid), '');
});
