import { globSync, readFileSync } from 'node:fs';
import t from 'tap';

const read = (pattern: string): Array<[string, string]> =>
  globSync(pattern).map((path) => [path, readFileSync(path, 'utf8')]);

const drawn = [...readFileSync('templates/assets/icons.svg', 'utf8').matchAll(/<symbol id="([a-z-]+)"/g)].map(
  ([, name]) => name ?? '',
);

/** How the icon of a link is written: in a bar of links, and everywhere else. */
const inBar = /(?:side-link|tab)\([^\n]*?\), '([a-z-]+)'/g;
const inPlace = /\+icon\(([^)\n]*)\)/g;

/** What one bar of links shows: a template, and the mixin in it. */
const bars: Array<[string, string]> = [
  ['templates/partials/side-navs.pug', 'settings-nav'],
  ['templates/partials/side-navs.pug', 'repository-settings-nav'],
  ['templates/partials/side-navs.pug', 'organisation-settings-nav'],
  ['templates/partials/side-navs.pug', 'admin-nav'],
  ['templates/partials/repository-head.pug', 'repository-head'],
  ['templates/partials/organisation-head.pug', 'organisation-head'],
];

/** The names in the argument of an icon: one, or two of a condition. */
const namesIn = (words: string): string[] => [...words.matchAll(/(?<!= )'([a-z-]+)'/g)].map(([, name]) => name ?? '');

const iconsIn = (text: string): string[] => [
  ...[...text.matchAll(inBar)].map(([, name]) => name ?? ''),
  ...[...text.matchAll(inPlace)].flatMap(([, words]) => namesIn(words ?? '')),
];

/** The lines of a mixin: to the next line at the margin. */
const mixinOf = (text: string, name: string): string =>
  new RegExp(`^mixin ${name}\\b.*\n(?:(?: .*)?\n)*`, 'm').exec(text)?.[0] ?? '';

t.test('every icon that a template or a view names is drawn, once', async (t) => {
  t.equal(new Set(drawn).size, drawn.length, 'no name twice');
  const used = [
    ...read('templates/**/*.pug').flatMap(([path, text]) => iconsIn(text).map((name) => [path, name])),
    ...read('src/pages/**/*.ts').flatMap(([path, text]) =>
      [...text.matchAll(/\bicon: (?:[^,'\n]*\? )?'([a-z-]+)'/g)].map(([, name]) => [path, name ?? '']),
    ),
  ];
  t.ok(used.length > 200, `${used.length} uses were found`);
  t.same(
    used.filter(([, name]) => !drawn.includes(name ?? '')),
    [],
  );
});

t.test('one bar of links has no icon for two things', async (t) => {
  for (const [path, mixin] of bars) {
    // What visitors see instead of a menu of their own repeats an entry of it.
    const [shown = ''] = mixinOf(readFileSync(path, 'utf8'), mixin).split(/^ {4}else$/m);
    const icons = iconsIn(shown.slice(shown.indexOf('nav.')));
    t.ok(icons.length > 5, `${mixin}: ${icons.length} icons`);
    t.same(
      icons.filter((name, at) => icons.indexOf(name) !== at),
      [],
      mixin,
    );
  }
});
