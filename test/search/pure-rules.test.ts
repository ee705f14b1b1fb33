import t from 'tap';
import { fold, foldFields, foldQuery } from '../../src/search/fold.ts';
import { gramsOf, gramsOfQuery, proposing } from '../../src/search/grams.ts';
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

t.test('every text that contains a query has all the grams that the query proposes', async (t) => {
  const text = fold('Ünïcode 100% "done" 🔥🔥 a_b');
  const grams = new Set(gramsOf(text).split(' '));
  const characters = [...text];
  for (let from = 0; from < characters.length; from++) {
    for (let to = from + 1; to <= characters.length; to++) {
      const query = characters.slice(from, to).join('');
      const wanted = gramsOfQuery(query);
      if (!wanted.every((gram) => grams.has(gram))) t.fail(query);
      if (wanted.length > 12) t.fail(`${query}: ${wanted.length} grams`);
    }
  }
  for (const gram of grams) if (!/^[0-9a-fx]+$/.test(gram)) t.fail(gram);
  t.equal(proposing(gramsOfQuery('aaaa')), '"61x61x61"');
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
  const marked = (text: string, query: string) => markHits(text, query).map(({ text, isHit }) => (isHit ? `[${text}]` : text)).join('');
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

t.test('of two threads the idle one is asked, and both are closed', async (t) => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const thread = (name: string) => ({
    ask: () => new Promise<never[]>((resolve) => {
      asked.push(name);
      answers.push(() => resolve([]));
    }),
    close: async () => void asked.push(`${name} closed`),
  });
  const both = joinThreads([thread('a'), thread('b')]);
  const asking = [both.ask([]), both.ask([]), both.ask([])];
  answers[1]!();
  await asking[1];
  asking.push(both.ask([]));
  t.same(asked, ['a', 'b', 'a', 'b']);
  for (const answer of answers) answer();
  await Promise.all(asking);
  await both.close();
  t.same(asked.slice(4), ['a closed', 'b closed']);
});
