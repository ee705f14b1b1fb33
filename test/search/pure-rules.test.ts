import t from 'tap';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as tick } from 'node:timers/promises';
import { fold, foldFields, foldQuery, trigramQuery } from '../../src/search/query-text.ts';
import { markHits } from '../../src/search/index.ts';
import { defaultDistance, orderKeysBetween } from '../../src/search/order-keys.ts';
import { createThreadPool } from '../../src/search/thread-pool.ts';

t.test('folding: NFC, lower case, one sigma; folding twice changes nothing', async (t) => {
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

t.test('every text that contains a query has all its trigrams, and short queries have none', async (t) => {
  const texts = [
    'Ünïcode 100% "done" 🔥🔥 a_b',
    'done and done\u0001undone \ufdd0 100%',
    'aaaa\u0001aaa 🔥',
    'x'.repeat(200),
  ];
  const database = new DatabaseSync(':memory:');
  t.teardown(() => database.close());
  database.exec(
    `CREATE VIRTUAL TABLE trigrams USING fts5(folded, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')`,
  );
  const folded = texts.map(fold);
  for (const [at, text] of folded.entries())
    database.prepare('INSERT INTO trigrams (rowid, folded) VALUES (?, ?)').run(at + 1, text);
  const find = database.prepare('SELECT rowid FROM trigrams WHERE trigrams MATCH ?');
  for (const [at, text] of folded.entries()) {
    const characters = [...text];
    for (let from = 0; from < characters.length; from++) {
      for (let to = from + 1; to <= Math.min(characters.length, from + 40); to++) {
        const query = characters.slice(from, to).join('');
        const asked = trigramQuery(query);
        if (to - from < 3) t.equal(asked, null);
        else if (!find.all(asked).some(({ rowid }) => rowid === at + 1)) t.fail(`${query}: ${asked}`);
      }
    }
  }
  t.equal(trigramQuery('a"b"'), '"a""b" AND """b"""');
  t.equal(trigramQuery('abcd'), '"abc" AND "bcd"');
  t.ok(
    trigramQuery('abcdefghijklmnopqrstuvwxyz'.repeat(10))!.split(' AND ').length <= 13,
    'a long query asks for a few',
  );
});

t.test('order keys: between neighbours, ascending, or none when the gap is too small', async (t) => {
  t.same(orderKeysBetween(10, 20, 1), [15]);
  t.same(orderKeysBetween(10, 20, 4), [12, 14, 16, 18]);
  t.equal(orderKeysBetween(10, 11, 1), null);
  t.equal(orderKeysBetween(10, 20, 10), null);
  t.same(orderKeysBetween(1e9, null, 2), [1e9 + defaultDistance, 1e9 + 2 * defaultDistance]);
  t.same(orderKeysBetween(null, 1e9, 2), [1e9 - 2 * defaultDistance, 1e9 - defaultDistance]);
  const first = orderKeysBetween(null, null, 1000)!;
  t.ok(first.every((place, at) => at === 0 || place > first[at - 1]!));
  t.equal(orderKeysBetween(2 ** 46 - 2, null, 2), null, 'the end of all keys');
});

t.test('matches are marked in the text as it was written', async (t) => {
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

t.test('two threads serve one queue, and both are closed', async (t) => {
  const asked: string[] = [];
  const responses: (() => void)[] = [];
  const thread = (name: string) => ({
    ask: () =>
      new Promise<never[]>((resolve) => {
        asked.push(name);
        responses.push(() => resolve([]));
      }),
    close: async () => void asked.push(`${name} closed`),
  });
  const both = createThreadPool([thread('a'), thread('b')], 1);
  const asking = Array.from({ length: 3 }, () => both.ask([]));
  await tick();
  t.same(asked, ['a', 'b'], 'one each, and the third waits');
  responses[1]!();
  await asking[1];
  asking.push(both.ask([]), both.ask([]));
  await tick();
  t.same(
    asked.splice(0),
    ['a', 'b', 'b', 'a'],
    'who has answered takes the first in line; what is beyond the line is for a thread to refuse',
  );
  for (const response of responses) response();
  await asking[0];
  await tick();
  t.same(asked.splice(0), ['a'], 'and then the next');
  responses[4]!();
  await Promise.all(asking);
  const later = both.ask([]);
  responses[5]!();
  await later;
  t.same(asked.splice(0), ['a'], 'one thread is enough again');
  const sparing = [both.ask([], true), both.ask([], true), both.ask([])];
  await tick();
  t.same(asked.splice(0), ['a', 'b'], 'a sparing one waits although a thread is idle, and is in nobody’s way');
  responses[6]!();
  await sparing[0];
  await tick();
  t.same(asked.splice(0), ['a']);
  for (const response of responses) response();
  await Promise.all(sparing);
  await both.close();
  t.same(asked, ['a closed', 'b closed']);
});
