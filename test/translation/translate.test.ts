import t from 'tap';
import { embedded } from '../../src/embedded/index.ts';
import { formatNumber, inLanguage, rich, t as message } from '../../src/translation/index.ts';

/** Catalogues of this test in place of the files. */
const texts: Record<string, string> = {
  en: JSON.stringify({
    plain: 'Save',
    named: "{name}'s {what}",
    plural: '{count, plural, one {# branch} other {# branches}}',
    linked: 'See <link>the <code>{file}</code></link>.',
    only_here: 'English',
    broken_there: 'Fine',
    other_tag: '<link>Fine</link>',
    other_value: 'Fine {name}',
    broken: '{oops',
  }),
  de: JSON.stringify({
    plain: 'Speichern',
    named: '{what} von {name}',
    plural: '{count, plural, one {# Branch} other {# Branches}}',
    linked: '<link>Die <code>{file}</code></link> ansehen.',
    broken_there: '{count, plural, one {#}}',
    other_tag: '<script>alert(1)</script>',
    other_value: 'Gut {nobody}',
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
