import t from 'tap';
import { viewFlashMessage } from '../../../src/pages/app/flash-messages.view.ts';
import { inLanguage, languages } from '../../../src/translation/index.ts';
import { readSources } from '../../architecture/source-files.ts';

const message = (done: string, language = 'en') =>
  inLanguage(language, () => viewFlashMessage(new URLSearchParams({ done })));

t.test(
  'a flash message is one of the catalogue in the language of the reader, and nothing else is shown',
  async (t) => {
    t.equal(message('key-removed'), 'The key has been removed.');
    t.equal(message('key-removed', 'de'), 'Der Schlüssel ist entfernt.');
    for (const made of [
      '',
      'nothing',
      'key_removed',
      '../common.save',
      'Key-removed',
      '__proto__',
      'key-removed ',
      '<b>',
    ])
      t.equal(message(made), null, made);
  },
);

t.test('every flash message that a page redirects with exists in every language', async (t) => {
  const named = readSources('src/pages').flatMap(({ text }) =>
    [...text.matchAll(/(?:withFlashMessage\((?:[^()'"`;\n]|\([^()'"`]*\))*, |acting\()'([a-z-]+)'/g)].map(
      ([, name]) => name!,
    ),
  );
  t.ok(named.length > 40, 'it sees them');
  for (const name of new Set(named))
    for (const { code } of languages) t.type(message(name, code), 'string', `${name} in ${code}`);
});
