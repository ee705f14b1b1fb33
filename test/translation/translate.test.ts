// runs alone: its catalogues replace those of the process.
import t from 'tap';
import { embedded } from '../../src/embedded/index.ts';
import {
  formatNumber,
  inLanguage,
  rich,
  t as message,
  translated,
  translateRefusal,
} from '../../src/translation/index.ts';

/** Catalogues of this test in place of the files. */
const texts: Record<string, string> = {
  en: JSON.stringify({
    plain: 'Save',
    named: "{name}'s {what}",
    plural: '{count, plural, one {# branch} other {# branches}}',
    linked: 'See <link>the <code>{file}</code></link>.',
    only_here: 'English',
    slotted: '{person} opened this {at}',
    'table.of.words': 'Save',
    broken_there: 'Fine',
    other_tag: '<link>Fine</link>',
    other_value: 'Fine {name}',
    broken: '{oops',
    'errors.name_taken': 'The name is taken.',
    'errors.name_taken.2': '{what} {name} is taken.',
    'errors.too_long': '{called} can have at most {max} characters.',
    'errors.not_there': 'Not there.',
    'errors.two': '{one}{two}.',
    'errors.too_large': '{file} is larger than {max} bytes.',
    'errors.too_large.2': '{file} has {found} instead of {max} bytes.',
    'terms.title': 'The title',
    'terms.count_minute': '{count, plural, one {# minute} other {# minutes}}',
    'errors.later': 'Try again in {wait}.',
  }),
  de: JSON.stringify({
    plain: 'Speichern',
    slotted: '{at} von {person} geöffnet',
    'table.of.words': 'Speichern',
    named: '{what} von {name}',
    plural: '{count, plural, one {# Branch} other {# Branches}}',
    linked: '<link>Die <code>{file}</code></link> ansehen.',
    broken_there: '{count, plural, one {#}}',
    other_tag: '<script>alert(1)</script>',
    other_value: 'Gut {nobody}',
    'errors.name_taken': 'Der Name ist vergeben.',
    'errors.name_taken.2': '{what} {name} ist vergeben.',
    'errors.too_long': 'Höchstens {max} Zeichen: {called}.',
    'errors.two': '{two}{one}.',
    'errors.too_large': '{file} ist größer als {max} Bytes.',
    'errors.too_large.2': '{file} hat {found} statt {max} Bytes.',
    'terms.title': 'Der Titel',
    'terms.count_minute': '{count, plural, one {# Minute} other {# Minuten}}',
    'errors.later': 'Erneut in {wait}.',
  }),
  fr: '{ this is not JSON',
};
embedded.translation = (language) => texts[language]!;

t.test('a message is in the language of the reader, and in English where there is none', async (t) => {
  t.equal(message('plain'), 'Save');
  t.equal(
    inLanguage('de', () => message('plain')),
    'Speichern',
  );
  t.equal(await inLanguage('de', async () => (await null, message('plain'))), 'Speichern');
  t.equal(
    inLanguage('de', () => message('only_here')),
    'English',
  );
  t.equal(
    inLanguage('fr', () => message('plain')),
    'Save',
  );
  t.equal(message('no.such.key'), 'no.such.key');
  t.equal(message('__proto__'), '__proto__');
  t.equal(message('broken'), 'broken');
});

t.test('a table reads in the language of the reader, also in another one, and other values stay', async (t) => {
  const row = (text: string) => translated({ text, isFinal: true });
  const table = translated({
    inner: row('table.of.words'),
    list: [[/a/g, 'table.of.words'] as const],
    nothing: null,
    file: 'README.md',
    word: 'plain',
  });
  const [[pattern, text]] = table.list as [[RegExp, string]];
  t.equal(text, 'Save');
  t.ok(pattern.test('a'));
  t.equal(table.list.length, 1);
  t.strictSame([table.nothing, table.file, table.word], [null, 'README.md', 'plain']);
  inLanguage('de', () => {
    t.equal(table.inner.text, 'Speichern');
    t.equal(table.list[0]![1], 'Speichern');
  });
  t.strictSame({ ...table.inner }, { text: 'Save', isFinal: true });
});

t.test('values are put in as text, plurals by the rules of the language', async (t) => {
  t.equal(message('named', { name: '<b>&{x}', what: 'fork' }), "<b>&{x}'s fork");
  t.equal(
    inLanguage('de', () => message('named', { name: 'alice', what: null })),
    ' von alice',
  );
  t.equal(message('plural', { count: 1 }), '1 branch');
  t.equal(
    inLanguage('de', () => message('plural', { count: 1_200 })),
    '1.200 Branches',
  );
  t.equal(
    inLanguage('de', () => formatNumber(1_204)),
    '1.204',
  );
  t.equal(
    inLanguage('en', () => formatNumber(1_204)),
    '1,204',
  );
});

t.test('a translation that is broken, or wants what nobody gives, is not used', async (t) => {
  t.equal(
    inLanguage('de', () => message('broken_there')),
    'Fine',
  );
  t.equal(
    inLanguage('de', () => message('other_value', { name: 'x' })),
    'Fine x',
  );
  t.strictSame(
    inLanguage('de', () => rich('other_tag', {}, { link: { href: '/' } })),
    [{ tag: 'a', attributes: { href: '/' }, parts: ['Fine'] }],
  );
});

t.test('tags of a message are the elements that the template names, and nothing else', async (t) => {
  const parts = rich('linked', { file: '<i>' }, { link: { href: '/a', class: 'b' } });
  t.strictSame(parts, [
    'See ',
    {
      tag: 'a',
      attributes: { href: '/a', class: 'b' },
      parts: ['the ', { tag: 'code', attributes: {}, parts: ['<i>'] }],
    },
    '.',
  ]);
});

t.test('what a mixin makes stands where the language wants it', async (t) => {
  const slots = { person: { person: { name: 'alice' } }, at: { when: { text: 'today' } } };
  t.strictSame(rich('slotted', {}, slots), [slots.person, ' opened this ', slots.at]);
  t.strictSame(
    inLanguage('de', () => rich('slotted', {}, slots)),
    [slots.at, ' von ', slots.person, ' geöffnet'],
  );
});

t.test(
  'a refusal is in the language of the reader, with its values, and in English where there is no other',
  async (t) => {
    const rows: [reason: string, english: string, german: string][] = [
      ['name_taken', 'The name is taken.', 'Der Name ist vergeben.'],
      ['name_taken', 'The title x is taken.', 'The title x ist vergeben.'],
      ['name_taken', 'A tag {what} <b> is taken.', 'A tag {what} <b> ist vergeben.'],
      ['name_taken', 'Something else.', 'Something else.'],
      ['too_long', 'The title can have at most 1,000 characters.', 'Höchstens 1,000 Zeichen: Der Titel.'],
      ['too_long', ' can have at most .', ' can have at most .'],
      ['too_large', 'a.txt is larger than 5 bytes.', 'a.txt ist größer als 5 Bytes.'],
      ['too_large', 'a.txt has 7 instead of 5 bytes.', 'a.txt hat 7 statt 5 Bytes.'],
      ['not_there', 'Not there.', 'Not there.'],
      ['nobody_knows', 'The name is taken.', 'The name is taken.'],
      ['__proto__', 'The name is taken.', 'The name is taken.'],
      ['two', 'ab.', 'ab.'],
      ['later', 'Try again in 2 minutes.', 'Erneut in 2 Minuten.'],
      ['later', 'Try again in 1 minute.', 'Erneut in 1 Minute.'],
      ['later', 'Try again in 2 moons.', 'Erneut in 2 moons.'],
      ['name_taken', `The ${'x is '.repeat(10_000)} is taken.`, `The ${'x is '.repeat(10_000)} is taken.`],
    ];
    for (const [reason, english, german] of rows) {
      t.equal(translateRefusal({ reason, message: english }), english, 'outside of a page it is English');
      t.equal(
        inLanguage('de', () => translateRefusal({ reason, message: english })),
        german,
        english.slice(0, 40),
      );
      t.equal(
        inLanguage('fr', () => translateRefusal({ reason, message: english })),
        english,
        'the French file cannot be read',
      );
    }
  },
);
