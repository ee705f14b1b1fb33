import t from 'tap';
import { setImmediate as tick } from 'node:timers/promises';
import { fold, foldFields, foldQuery } from '../../src/search/fold.ts';
import { estimateGrown } from '../../src/search/estimate-grown.ts';
import { gramsOf, lengthOf, longerGrams, longestGram, matching, propose } from '../../src/search/grams.ts';
import { markHits } from '../../src/search/index.ts';
import { placesBetween, usualDistance } from '../../src/search/places.ts';
import { joinThreads } from '../../src/search/side-threads.ts';

t.test('DESIGN §9 folding: NFC, lower case, one sigma; folding twice changes nothing', async (t) => {
  const cases: [string, string][] = [
    ['ÉCOLE', 'école'],
    ['E\u0301COLE', 'école'],
    ['ẞ', 'ß'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδος', 'οδοσ'],
    ['İ', 'i\u0307'],
    ['ſ', 'ſ'],
    ['100%_', '100%_'],
  ];
  for (const [text, folded] of cases) {
    t.equal(fold(text), folded, text);
    t.equal(fold(folded), folded);
  }
  t.equal(foldFields('Alice', 'a\u0001b'), 'alice\u0001a b', 'a field cannot pretend to be two');
  t.equal(foldQuery(' \u0001\t'), '');
  t.equal(foldQuery(' a '), ' a ', 'spaces of a query count');
});

/** Texts with much in common, and what a list of them has let grow when more than two have a gram. */
const texts = [
  'Ünïcode 100% "done" 🔥🔥 a_b',
  'done and done\u0001undone \ufdd0 100%',
  'aaaa\u0001aaa 🔥',
  'not done: 100% 🔥',
].map(fold);

t.test('every text that contains a query has all the grams that are proposed for it, whatever has grown', async (t) => {
  for (const isHidden of [false, true]) {
    const grown = new Set(
      await estimateGrown(
        texts.map((folded) => ({ folded, isHidden })),
        2,
      ),
    );
    t.ok(grown.size > 10, `${grown.size} have grown`);
    for (const folded of texts) {
      const words = gramsOf({ folded, isHidden }, grown);
      const grams = new Set(words.split(' '));
      for (const field of folded.split('\u0001').map((field) => [...field])) {
        for (let from = 0; from < field.length; from++) {
          for (let to = from + 1; to <= field.length; to++) {
            const query = field.slice(from, to).join('');
            const { grams: wanted, isDecided } = propose(query, isHidden, grown);
            if (wanted.length === 0 || wanted.length > 4 || !wanted.every((gram) => grams.has(gram)))
              t.fail(`${query}: ${wanted.join(' ')}`);
            if (
              isDecided &&
              !texts.every(
                (text) =>
                  text.includes(query) === gramsOf({ folded: text, isHidden }, grown).split(' ').includes(wanted[0]!),
              )
            )
              t.fail(`${query} is not decided`);
          }
        }
      }
      // What FTS5's tokenizer makes of them: everything but ASCII's signs and spaces is part of a word.
      if (!/^[a-z0-9\u0080-\u{10ffff} ]+$/u.test(words)) t.fail(words);
    }
  }
  const open = gramsOf({ folded: 'tool', isHidden: false }, new Set());
  t.equal(open, 't o l');
  t.notOk(
    gramsOf({ folded: 'tool', isHidden: true }, new Set())
      .split(' ')
      .some((gram) => open.split(' ').includes(gram)),
    'what is hidden has none of the others’ grams',
  );
  t.equal(matching(['a', 'b']), '"a" AND "b"');
});

t.test('a gram that grows brings those that are longer by one, and never more than its bound', async (t) => {
  for (const folded of texts) {
    for (const isHidden of [false, true]) {
      const before = new Set(gramsOf({ folded, isHidden }, new Set()).split(' '));
      for (const gram of before) {
        const after = new Set([...before, ...longerGrams({ folded }, gram)]);
        t.strictSame(
          [...after].sort(),
          gramsOf({ folded, isHidden }, new Set([gram]))
            .split(' ')
            .sort(),
          gram,
        );
        t.equal(lengthOf(gram), 1);
      }
    }
  }
  const same = 'the same long sentence for everybody';
  const grown = new Set(
    await estimateGrown(
      Array.from({ length: 5 }, () => ({ folded: same, isHidden: false })),
      2,
    ),
  );
  t.equal(Math.max(...gramsOf({ folded: same, isHidden: false }, grown).split(' ').map(lengthOf)), longestGram);
  const { grams, isDecided } = propose(same, false, grown);
  t.strictSame([grams.length, isDecided], [4, false], 'nothing is rare, and still something is asked for');
});

t.test('places: between neighbours, ascending, or none when there is no room', async (t) => {
  t.same(placesBetween(10, 20, 1), [15]);
  t.same(placesBetween(10, 20, 4), [12, 14, 16, 18]);
  t.equal(placesBetween(10, 11, 1), null);
  t.equal(placesBetween(10, 20, 10), null);
  t.same(placesBetween(1e9, null, 2), [1e9 + usualDistance, 1e9 + 2 * usualDistance]);
  t.same(placesBetween(null, 1e9, 2), [1e9 - 2 * usualDistance, 1e9 - usualDistance]);
  const first = placesBetween(null, null, 1000)!;
  t.ok(first.every((place, at) => at === 0 || place > first[at - 1]!));
  t.equal(placesBetween(2 ** 46 - 2, null, 2), null, 'the end of all places');
});

t.test('hits are marked in the text as it was written', async (t) => {
  const marked = (text: string, query: string) =>
    markHits(text, query)
      .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
      .join('');
  const cases: [string, string, string][] = [
    ['A tool for Tools', 'TOOL', 'A [tool] for [Tool]s'],
    ['ΟΔΟΣ', 'ος', 'ΟΔ[ΟΣ]'],
    ['İstanbul', 'i', '[İ]stanbul'],
    ['İstanbul', 'stan', 'İ[stan]bul'],
    ['e\u0301cole', 'É', '[é]cole'],
    ['🔥a🔥', '🔥', '[🔥]a[🔥]'],
    ['aaa', 'aa', '[aa]a'],
    ['plain', '', 'plain'],
    ['', 'x', ''],
    ['<b>', '<', '[<]b>'],
  ];
  for (const [text, query, wanted] of cases) t.equal(marked(text, query), wanted);
});

t.test('two threads answer from one line, and both are closed', async (t) => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const thread = (name: string) => ({
    ask: () =>
      new Promise<never[]>((resolve) => {
        asked.push(name);
        answers.push(() => resolve([]));
      }),
    close: async () => void asked.push(`${name} closed`),
  });
  const both = joinThreads([thread('a'), thread('b')], 1);
  const asking = Array.from({ length: 3 }, () => both.ask([]));
  await tick();
  t.same(asked, ['a', 'b'], 'one each, and the third waits');
  answers[1]!();
  await asking[1];
  asking.push(both.ask([]), both.ask([]));
  await tick();
  t.same(
    asked.splice(0),
    ['a', 'b', 'b', 'a'],
    'who has answered takes the first in line; what is beyond the line is for a thread to refuse',
  );
  for (const answer of answers) answer();
  await asking[0];
  await tick();
  t.same(asked.splice(0), ['a'], 'and then the next');
  answers[4]!();
  await Promise.all(asking);
  const later = both.ask([]);
  answers[5]!();
  await later;
  t.same(asked.splice(0), ['a'], 'one thread is enough again');
  const sparing = [both.ask([], true), both.ask([], true), both.ask([])];
  await tick();
  t.same(asked.splice(0), ['a', 'b'], 'a sparing one waits although a thread is idle, and is in nobody’s way');
  answers[6]!();
  await sparing[0];
  await tick();
  t.same(asked.splice(0), ['a']);
  for (const answer of answers) answer();
  await Promise.all(sparing);
  await both.close();
  t.same(asked, ['a closed', 'b closed']);
});
