import t from 'tap';
import { viewNotice } from '../../../src/pages/app/notices.view.ts';
import { inLanguage, languages } from '../../../src/translation/index.ts';
import { readSources } from '../../architecture/source-files.ts';

const notice = (done: string, language = 'en') => inLanguage(language, () => viewNotice(new URLSearchParams({ done })));

t.test('a notice is a message of the catalogue in the language of the reader, and nothing else is shown', async (t) => {
  t.equal(notice('key-removed'), 'The key is removed.');
  t.equal(notice('key-removed', 'de'), 'Der Schlüssel ist entfernt.');
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
    t.equal(notice(made), null, made);
});

t.test('every notice that a page redirects with exists in every language', async (t) => {
  const named = readSources('src/pages').flatMap(({ text }) =>
    [...text.matchAll(/(?:withNotice\((?:[^()'"`;\n]|\([^()'"`]*\))*, |acting\()'([a-z-]+)'/g)].map(
      ([, name]) => name!,
    ),
  );
  t.ok(named.length > 40, 'it sees them');
  for (const name of new Set(named))
    for (const { code } of languages) t.type(notice(name, code), 'string', `${name} in ${code}`);
});
