import t from 'tap';
import { DatabaseSync } from 'node:sqlite';
import { fold, foldFields, foldQuery, trigramQuery } from '../../src/search/fold-text.ts';

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
        const matchQuery = trigramQuery(query);
        if (to - from < 3) t.equal(matchQuery, null);
        else if (!find.all(matchQuery).some(({ rowid }) => rowid === at + 1)) t.fail(`${query}: ${matchQuery}`);
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
