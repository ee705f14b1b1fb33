// Threads follow their lines over rounds, through renames and rebases, and never vanish.
import t from 'tap';
import type { LineChange } from '../../src/git/index.ts';
import { mapLines } from '../../src/pulls/threads/map-lines.ts';
import { threadPositionSchema } from '../../src/pulls/schema/review-schema.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { at, numbered, openReviews, reasonOf } from './reviews-fixture.ts';
import type { Files } from './reviews-fixture.ts';

const inserted = (behind: number, count: number): LineChange => ({
  oldStart: behind,
  oldCount: 0,
  newStart: behind + 1,
  newCount: count,
});

t.test('lines by the changes around them', async (t) => {
  const at = (first: number, last: number, ...changes: LineChange[]) => {
    const { state, firstLine, lastLine } = mapLines(first, last, changes);
    return `${state} ${firstLine}-${lastLine}`;
  };
  t.equal(at(5, 7), 'kept 5-7');
  t.equal(at(5, 7, inserted(4, 2)), 'kept 7-9', 'in front of the first');
  t.equal(at(5, 7, inserted(7, 2)), 'kept 5-7', 'behind the last');
  t.equal(at(5, 7, inserted(5, 2)), 'changed 5-9', 'between them');
  t.equal(at(5, 7, { oldStart: 1, oldCount: 2, newStart: 0, newCount: 0 }), 'kept 3-5');
  t.equal(at(5, 7, { oldStart: 6, oldCount: 1, newStart: 6, newCount: 3 }), 'changed 5-9');
  t.equal(at(5, 7, { oldStart: 4, oldCount: 2, newStart: 4, newCount: 1 }), 'changed 4-6');
  t.equal(at(5, 7, { oldStart: 7, oldCount: 3, newStart: 7, newCount: 1 }), 'changed 5-7');
  t.equal(at(5, 7, { oldStart: 4, oldCount: 5, newStart: 3, newCount: 0 }), 'gone null-null');
  t.equal(at(5, 7, { oldStart: 5, oldCount: 3, newStart: 5, newCount: 1 }), 'changed 5-5', 'rewritten');
});

t.test('lines that are kept have the same text, over random edits', async (t) => {
  const random = seededRandom(7);
  const { git, branch, path } = await openReviews(t);
  let wrong = 0;
  let kept = 0;
  for (let trial = 0; trial < 12; trial += 1) {
    const before = Array.from({ length: 40 }, (_, line) => `line ${line} ${trial}`);
    const after = before.flatMap((line) =>
      random.chance(0.08)
        ? []
        : random.chance(0.1)
          ? [line, `new ${random.uuid()}`]
          : random.chance(0.1)
            ? [`${line}!`]
            : [line],
    );
    const from = branch('random', { 'r.txt': `${before.join('\n')}\n` });
    const to = branch('random', { 'r.txt': `${after.join('\n')}\n` });
    const { files } = await git.queries.lineChanges(path, { from, to });
    const changes = [...files.values()][0] ?? [];
    for (let first = 1; first <= 40; first += 1) {
      for (const last of [first, Math.min(40, first + 3)]) {
        const mapped = mapLines(first, last, changes);
        const isSame =
          mapped.firstLine !== null &&
          before.slice(first - 1, last).join('\n') === after.slice(mapped.firstLine - 1, mapped.lastLine!).join('\n');
        if (mapped.state === 'kept') kept += 1;
        if ((mapped.state === 'kept') !== isSame) wrong += 1;
        if (mapped.firstLine !== null && mapped.lastLine! > after.length + 1) wrong += 1;
      }
    }
  }
  t.equal(wrong, 0);
  t.ok(kept > 100);
});

/** A pull request with one thread for each `[path, side, line]`, and what became of them after a round. */
async function followed(
  t: Parameters<typeof openReviews>[0],
  first: Files,
  threads: readonly (readonly [path: string, side: 'OLD' | 'NEW', line: number | null])[],
  next: Files,
) {
  const modules = await openReviews(t);
  const { pulls, clock, openPull, nextRound, alice, bob } = modules;
  await openPull(alice, first);
  for (const [path, side, line] of threads) {
    clock.advance(1);
    await pulls.reviews.addComment(bob, at(1), {
      round: 1,
      path,
      side,
      firstLine: line,
      body: `at ${line}`,
      sendNow: true,
    });
  }
  await nextRound(alice, 1, next);
  const places = (await pulls.threads.list(bob, at(1))).map(({ place }) =>
    place === null ? null : [place.state, place.path, place.firstLine].join(' '),
  );
  return { ...modules, places };
}

t.test('same, moved, changed and gone, when the round comes', async (t) => {
  const text = numbered(30, { 10: 'ten' });
  const threads = [
    ['a.txt', 'NEW', 2],
    ['a.txt', 'NEW', 10],
    ['a.txt', 'NEW', 15],
    ['a.txt', 'NEW', 20],
    ['a.txt', 'OLD', 10],
    ['a.txt', 'NEW', null],
    ['gone.txt', 'NEW', 1],
  ] as const;
  const next = text.replace('ten\n', 'TEN\nmore\n').replace('line 20\n', '');
  const { db, pulls, places, bob } = await followed(t, { 'a.txt': text, 'gone.txt': 'x\n' }, threads, {
    'a.txt': next,
    'gone.txt': null,
  });
  t.same(places, [
    'same a.txt 2',
    'changed a.txt 10',
    'moved a.txt 16',
    'gone a.txt ',
    'same a.txt 10',
    'same a.txt ',
    'gone  ',
  ]);
  t.equal(await db.read.countBy(threadPositionSchema, { round: 2 }), 7, 'recorded with the round');
  t.equal((await pulls.threads.list(bob, at(1), { round: 1 })).length, 7);
  t.ok((await pulls.threads.list(bob, at(1), { round: 1 })).every(({ place }) => place?.state === 'same'));
});

t.test('through a rename with changes, and back again', async (t) => {
  const text = numbered(30, { 10: 'ten' });
  const threads = [
    ['a.txt', 'NEW', 10],
    ['a.txt', 'NEW', 3],
    ['a.txt', 'NEW', null],
  ] as const;
  const { pulls, places, nextRound, alice, bob } = await followed(t, { 'a.txt': text }, threads, {
    'a.txt': null,
    'src/b.txt': `first\n${text}`,
  });
  t.same(places, ['moved src/b.txt 11', 'moved src/b.txt 4', 'moved src/b.txt ']);
  await nextRound(alice, 1, { 'a.txt': text, 'src/b.txt': null });
  t.ok(
    (await pulls.threads.list(bob, at(1))).every(({ place }) => place?.state === 'same'),
    'what is undone is the same',
  );
});

t.test('the old side follows the base through a rebase', async (t) => {
  const { pulls, branch, run, openPull, nextRound, alice, bob } = await openReviews(t);
  await openPull(alice);
  await pulls.reviews.addComment(bob, at(1), {
    round: 1,
    path: 'a.txt',
    side: 'OLD',
    firstLine: 10,
    body: 'x',
    sendNow: true,
  });
  branch('main', { 'a.txt': `zero\n${numbered(30)}` });
  run('checkout', '--quiet', 'topic');
  run('rebase', '--quiet', 'main');
  run('push', '--quiet', '--force', 'hearth', 'topic:topic');
  await nextRound(alice, 1, null);
  t.match((await pulls.threads.list(bob, at(1)))[0]?.place, { state: 'moved', path: 'a.txt', firstLine: 11 });
});

t.test('binary, symbolic link, submodule, CRLF, NUL, ill UTF-8: kept, without an error', async (t) => {
  const threads = [
    ['nul.txt', 'NEW', 1],
    ['link.txt', 'NEW', 1],
    ['crlf.txt', 'NEW', 2],
    ['ill.txt', 'NEW', 1],
    ['image.bin', 'NEW', null],
  ] as const;
  const first: Files = {
    'nul.txt': 'one\ntwo\n',
    'link.txt': 'one\n',
    'crlf.txt': 'one\r\ntwo\r\n',
    'ill.txt': Buffer.from([0x61, 0xff, 0x0a]),
    'image.bin': Buffer.from([0, 1, 2]),
  };
  const { places, pulls, run, write, nextRound, alice, bob } = await followed(t, first, threads, {
    'nul.txt': 'one\0\ntwo\n',
    'crlf.txt': 'one\ntwo\r\n',
    'ill.txt': Buffer.from([0x0a, 0x61, 0xff, 0x0a]),
    'image.bin': Buffer.from([0, 1, 3]),
  });
  t.same(places, ['changed nul.txt ', 'same link.txt 1', 'same crlf.txt 2', 'moved ill.txt 2', 'same image.bin ']);
  write({ 'link.txt': null });
  run('config', 'core.symlinks', 'true');
  run('update-index', '--add', '--cacheinfo', `160000,${run('rev-parse', 'HEAD')},crlf.txt`);
  run('rm', '--quiet', '--cached', 'ill.txt');
  run('commit', '--quiet', '--message=odd');
  run('push', '--quiet', 'hearth', 'topic:topic');
  await nextRound(alice, 1, null);
  const states = (await pulls.threads.list(bob, at(1))).map(({ path, place }) => `${path} ${place?.state}`);
  t.same(states, ['nul.txt changed', 'link.txt gone', 'crlf.txt gone', 'ill.txt gone', 'image.bin same']);
  t.equal(await pulls.threads.countOpen((await pulls.find(bob, at(1))).issue.id), 5, 'only people resolve');
});

t.test('a comment on an older round, or on a commit, is placed when it is shown', async (t) => {
  const { pulls, branch, openPull, nextRound, alice, bob } = await openReviews(t);
  branch('topic', { 'a.txt': numbered(30, { 3: 'three' }) });
  await openPull(alice, { 'a.txt': `new\n${numbered(30, { 3: 'three' })}` });
  const [first] = await pulls.rounds.commits(alice, at(1), 1);
  await pulls.reviews.addComment(bob, at(1), {
    round: 1,
    commitOid: first!.oid,
    path: 'a.txt',
    firstLine: 3,
    body: 'x',
    sendNow: true,
  });
  t.match((await pulls.threads.list(bob, at(1)))[0], { quoted: 'three', place: { state: 'moved', firstLine: 4 } });
  await nextRound(alice, 1, { 'a.txt': `new\nmore\n${numbered(30, { 3: 'three' })}` });
  await pulls.reviews.addComment(bob, at(1), { round: 1, path: 'a.txt', firstLine: 1, body: 'late', sendNow: true });
  const lines = (await pulls.threads.list(bob, at(1))).map(({ place }) => place?.firstLine).sort();
  t.same(lines, [1, 5]);
  await pulls.reviews.addComment(bob, at(1), { round: 2, path: 'a.txt', firstLine: 2, body: 'newer', sendNow: true });
  t.same(
    (await pulls.threads.list(bob, at(1), { round: 1 })).map(({ place }) => place?.firstLine ?? null).sort(),
    [1, 4, null],
    'a thread of a later round has no place in an earlier one',
  );
});

t.test('a large file has a thread of its own, and no lines', async (t) => {
  const { pulls, openPull, nextRound, alice, bob } = await openReviews(t);
  const large = Buffer.alloc(17 * 1024 * 1024, 'a line of a large file\n');
  await openPull(alice, { 'large.txt': large });
  const on = { round: 1, path: 'large.txt', body: 'why is it here?', sendNow: true };
  t.equal(await reasonOf(pulls.reviews.addComment(bob, at(1), { ...on, firstLine: 1 })), 'no_lines_in_file');
  await pulls.reviews.addComment(bob, at(1), on);
  await nextRound(alice, 1, { 'large.txt': null, 'moved.txt': large });
  t.match((await pulls.threads.list(bob, at(1)))[0]?.place, { state: 'moved', path: 'moved.txt', firstLine: null });
});

t.test('threads are followed to a round of many files, through the one that is named', async (t) => {
  const { pulls, openPull, nextRound, alice, bob } = await openReviews(t);
  await openPull(alice);
  await pulls.reviews.addComment(bob, at(1), { round: 1, path: 'a.txt', firstLine: 10, body: 'x', sendNow: true });
  const many = Object.fromEntries(Array.from({ length: 3_200 }, (_, index) => [`0/${index}.txt`, `${index}\n`]));
  await nextRound(alice, 1, { ...many, 'a.txt': `first\n${numbered(30, { 10: 'ten' })}` });
  t.match((await pulls.threads.list(bob, at(1)))[0]?.place, { state: 'moved', path: 'a.txt', firstLine: 11 });
});
