import t from 'tap';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  checkCalls,
  checkCatalogue,
  checkUse,
  untranslatedRefusals,
} from '../../scripts/translations/check-catalogue.ts';
import { wordsOfTemplate, wordsOfTemplates } from '../../scripts/translations/find-words.ts';
import { refusalsOf } from '../../scripts/translations/find-refusals.ts';
import { wordsOfView, wordsOfViews } from '../../scripts/translations/find-words-in-views.ts';
import { languages } from '../../src/translation/index.ts';
import { projectFolder } from '../architecture/source-files.ts';

const read = (code: string): Record<string, string> =>
  JSON.parse(readFileSync(path.join(projectFolder, 'translations', `${code}.json`), 'utf8')) as Record<string, string>;

t.test('every catalogue is complete, and each of its messages can be used', async (t) => {
  const source = read('en');
  for (const { code } of languages) {
    const catalogue = read(code);
    t.strictSame(checkCatalogue({ language: code, catalogue, source }), []);
    t.strictSame(
      Object.keys(source).filter((key) => !Object.hasOwn(catalogue, key)),
      [],
      `${code} has all messages`,
    );
  }
  t.strictSame(checkUse(source, projectFolder), []);
});

t.test('a fault of a catalogue is found', async (t) => {
  const source = { 'a.b': '{count, plural, one {# <link>tag</link>} other {# tags}} of {name}' };
  const faults: [message: unknown, sentence: RegExp][] = [
    ['{count, plural, one {# <link>Tag</link>} other {#}} von {nobody}', /\{nobody\} is not a value/],
    ['{count, plural, one {# <link>Tag</link>} other {#}}', /the value \{name\} is missing/],
    ['{count, plural, one {#} other {#}} von {name}', /the tag <link> is missing/],
    ['{count, plural, other {# <link>Tags</link>}} von {name}', /the plural of \{count\} has no one/],
    ['{count, plural, one {# <link>T</link>}} von {name}', /cannot be read/],
    ["{count, plural, one {# <link>T</link>} other {#}} '<script>' {name}", /has HTML in it/],
    ['{count, plural, one {# <name>Tag</name>} other {#}} von {name}', /<name> is also the name of a value/],
    ['', /must be text/],
    [7, /must be text/],
  ];
  for (const [message, sentence] of faults)
    t.match(checkCatalogue({ language: 'de', catalogue: { 'a.b': message }, source }).join('\n'), sentence);
  t.match(checkCatalogue({ language: 'de', catalogue: { 'a.c': 'x' }, source }), [/no such key in English/]);
  t.match(checkCatalogue({ language: 'de', catalogue: [], source }), [/one object of keys and messages/]);
  t.strictSame(checkCatalogue({ language: 'en', catalogue: source, source }), []);
});

t.test('a call that does not give what its message names is found', async (t) => {
  const source = { 'a.b': '{count, plural, one {#} other {#}} of <link>{name}</link>', 'a.c': '<code>{x}</code>' };
  const fine = [
    "rich('a.b', { count, name: `a, (b` }, { link: { href: f(1, 2) } })",
    "rich('a.b', { count }, { name: { when: x }, link: {} })",
    "rich(a ? 'a.c' : 'a.c', {x})",
    "t('a.b', values)",
    "t('a.b', { ...values })",
    "t('no.such')",
  ];
  for (const call of fine) t.strictSame(checkCalls(source, 'x', call), [], call);
  t.strictSame(checkCalls(source, 'x', "rich('a.b', { count: ')' })"), [
    'x: a.b: the value {name} is not given',
    'x: a.b: the tag <link> is not given',
  ]);
  t.match(checkCalls(source, 'x', "t('a.c', { x })"), ['x: a.c: the tag <code> is not given']);
});

/** Words that older templates hold in English yet, many of them parts of sentences: this number only falls. */
const wordsLeft = 31;

t.test('templates have their words in the catalogue', async (t) => {
  const found = wordsOfTemplates(projectFolder);
  t.ok(found.length <= wordsLeft, `${found.length} words in templates:\n${found.join('\n')}`);
});

/** Words that views hold in English yet, and sentences of refusals without a translation: these numbers only fall. */
const viewWordsLeft = 83;
const refusalsLeft = 194;

t.test('views have their words in the catalogue', async (t) => {
  const found = wordsOfViews(projectFolder);
  t.ok(found.length <= viewWordsLeft, `${found.length} words in views:\n${found.join('\n')}`);
});

t.test('refusals are in the catalogue with their words', async (t) => {
  const found = untranslatedRefusals(read('en'), projectFolder);
  t.ok(found.length <= refusalsLeft, `${found.length} refusals:\n${found.join('\n')}`);
});

t.test('words of a view are found in each form, and notation is not', async (t) => {
  const wordy = [
    "const a = 'Some words';",
    "view({ label: 'Open' })",
    'const a = `${count} tags left`;',
    "a ? 'by hand' : b",
  ];
  const without = [
    "import { a } from 'some words';",
    "t('a.b')",
    "throw invalid('a_b', 'Some words.');",
    "ctx.set('Cache-Control', 'private, no-store')",
    "a === 'open'",
    "type A = 'Some words';",
    '`<td class="number">${number}</td>`',
    "html('Content-Type', 'text/plain; charset=utf-8')",
  ];
  for (const text of wordy) t.ok(wordsOfView('a.ts', text).length > 0, text);
  for (const text of without) t.strictSame(wordsOfView('a.ts', text), [], text);
});

t.test('the sentences of refusals are found with their values', async (t) => {
  const found = (text: string) => refusalsOf('src/issues/a.ts', text).map(({ reason, message }) => [reason, message]);
  t.strictSame(found("throw invalid('a_b', `There are ${deps.mostTags} tags of ${nameOf(x.owner)} and ${owner}.`)"), [
    ['a_b', 'There are {most_tags} tags of {owner} and {owner2}.'],
  ]);
  t.strictSame(found("throw conflict(one ? 'a' : 'b', 'One. ' + 'Two.')"), [
    ['a', 'One. Two.'],
    ['b', 'One. Two.'],
  ]);
  t.strictSame(found("new HttpError(413, 'Too large.')"), [['http_413', 'Too large.']]);
  t.strictSame(found("throw invalid('a_b', words)"), [['a_b', '{words}']]);
});

t.test('words of a template are found wherever they are, and notation is not', async (t) => {
  const wordy = [
    'p Hello',
    '| and more',
    'p #[strong= a] of #{b}',
    'p #[a(href=b) Show all]',
    "a(aria-label='close')",
    "input(placeholder=a ? 'name' : null)",
    "= a ? 'Open' : b",
    "= count === 1 ? 'one tag' : t('a.b')",
    '= `${a} tags left`',
    "+field('name', 'Your name', null)",
    "each tab in [['/a', 'Servers']]\n  p= tab",
    "- const a = 'Some words'",
    "= t('a.b', { what: 'a branch' })",
    'p: code= a\np after code',
    'pre: code.\n  jobs:\n    test: some words\np after code',
  ];
  const without = [
    "p= t('a.b')",
    "+rich('a.b', { a }, { link: { href: '/a' } })",
    "p.a(class='one two')= a",
    'p: code git push origin main',
    'pre\n  code\n    | git push\n    | more words',
    'pre: code.\n  jobs:\n    test: some words',
    '//- a comment\n  of two lines',
    'p Hearth',
    'p SSH · #{a}',
    "a(href=`/a/${b}?c=d`)= b === 'open' ? b : null",
    "input(placeholder='name@social.example.org')",
  ];
  for (const text of wordy) t.ok(wordsOfTemplate(text).length > 0, text);
  for (const text of without) t.strictSame(wordsOfTemplate(text), [], text);
});
