import t from 'tap';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { projectFolder, readSources, trackedFiles } from './source-files.ts';

/**
 * Unescaped output of templates: the file, the expression, and why its HTML is safe. Text of users is always escaped
 * (security C01).
 */
const unescaped: [file: string, expression: string, reason: string][] = [
  ['templates/partials/readme.pug', 'html', 'comes out of the sanitiser of src/pages/markdown'],
  ['templates/partials/code.pug', 'code.html', 'lines of a file, escaped by src/pages/code'],
  ['templates/partials/code.pug', 'blame.html', 'lines of a file and their commits, escaped by src/pages/code'],
  ['templates/partials/code.pug', 'file.html', 'lines of a patch, escaped by src/pages/code'],
  ['templates/pulls/partials/changes.pug', 'part.html', 'lines of a patch, escaped by src/pages/code'],
];

interface Token {
  type: string;
  val?: unknown;
  name?: string;
  buffer?: boolean;
  mustEscape?: boolean;
  loc: { start: { line: number } };
}

// The lexer of pug itself, so that nothing is misread: `if a != b` is no output.
const ofPug = createRequire(createRequire(import.meta.url).resolve('pug'));
const lex = ofPug('pug-lexer') as (text: string) => Token[];

const templates = trackedFiles().filter((file) => file.startsWith('templates/') && file.endsWith('.pug'));
const tokensOf = (file: string): Token[] => lex(readFileSync(path.join(projectFolder, file), 'utf8'));

/** Expressions that are output without escaping. */
function rawOutputs(tokens: readonly Token[]): string[] {
  return tokens
    .filter(({ type, buffer, mustEscape, val }) => {
      if (mustEscape !== false) return false;
      // An attribute without a value, or with a literal one, is the template's own text.
      if (type === 'attribute') return typeof val === 'string' && !/^(['"])[^'"]*\1$/.test(val);
      return type === 'interpolated-code' || (type === 'code' && buffer === true);
    })
    .map(({ val }) => String(val).trim());
}

t.test('security C01 templates escape everything except the reviewed places', async (t) => {
  const found = templates.flatMap((file) => rawOutputs(tokensOf(file)).map((expression) => `${file}: ${expression}`));
  t.strictSame(found.sort(), unescaped.map(([file, expression]) => `${file}: ${expression}`).sort());
});

t.test('templates contain nothing that the content security policy refuses', async (t) => {
  const wrong: string[] = [];
  for (const file of templates) {
    let tag = '';
    for (const { type, name, val, loc } of tokensOf(file)) {
      const place = `${file}:${loc.start.line}`;
      if (type === 'tag') tag = String(val);
      if (type === 'attribute' && name === 'style') wrong.push(`${place} has a style attribute`);
      if (type === 'attribute' && /^on[a-z]+$/.test(name ?? '')) wrong.push(`${place} has the handler ${name}`);
      if (type === 'attribute' && /^['"]?\s*javascript:/i.test(String(val)))
        wrong.push(`${place} links to javascript:`);
      if ((type === 'dot' || type === 'text') && (tag === 'script' || tag === 'style'))
        wrong.push(`${place} has an inline ${tag}`);
      if (type === 'text-html') wrong.push(`${place} is raw HTML`);
      if (type === 'filter') wrong.push(`${place} runs a filter`);
      if (type === 'newline' || type === 'indent' || type === 'outdent') tag = '';
    }
  }
  t.strictSame(wrong, []);
});

t.test('the check finds every form of unescaped output, and nothing else', async (t) => {
  const raw = [
    'p!= a',
    '!= a',
    'p text !{a} more',
    'a(href!=a) x',
    '| !{a}',
    'p #[b!= a]',
    'div&attributes(a)\n  != a',
  ];
  const escaped = [
    'p= a',
    'p #{a}',
    'a(href=a) x',
    'if a != b\n  p x',
    'input(disabled)',
    "a(title!='plain')",
    '- const x = a != b',
    '//- != a',
  ];
  for (const text of raw) t.strictSame(rawOutputs(lex(text)), ['a'], text);
  for (const text of escaped) t.strictSame(rawOutputs(lex(text)), [], text);
});

/** Pages whose templates have other names, and why. */
const otherwiseNamed: Record<string, string> = {
  'code/change-tags': 'the same for tags',
  'code/change-branches': 'creates and deletes; only the question before a deletion is a page',
  'runs/job-log': 'sends rows of a page that is there already',
};

t.test('a page and its template have one path, in src/pages and in templates', async (t) => {
  const named = new Set<string>(['layout']);
  for (const { path: file, text } of readSources('src/pages')) {
    const names = [...text.matchAll(/(?:\b(?:page|render)\(\s*|template: )'([a-z-]+\/[a-z-]+)'/g)].map(
      ([, name]) => name!,
    );
    for (const name of names) named.add(name);
    const own = file.slice('src/pages/'.length).replace(/(?:\.page)?\.ts$/, '');
    for (const name of names) t.equal(path.dirname(name), path.dirname(own), `${file} shows ${name}`);
    if (file.endsWith('.page.ts') && names.length > 0 && !Object.hasOwn(otherwiseNamed, own))
      t.ok(names.includes(own), `${file} shows templates/${own}.pug`);
  }
  t.ok(named.size > 60, 'it sees the names');
  const included = new Set(
    templates.flatMap((file) =>
      tokensOf(file)
        .filter(({ type }) => type === 'path')
        .map(({ val }) => String(val))
        .map((target) => (target.startsWith('/') ? target.slice(1) : path.join(path.dirname(file), target).slice(10))),
    ),
  );
  t.strictSame(
    templates
      .map((file) => file.slice('templates/'.length, -'.pug'.length))
      // One is shown by the transport of OAuth2.
      .filter((name) => !named.has(name) && !included.has(name) && name !== 'oauth/sign-out'),
    [],
    'every template is shown by a page or included by a template',
  );
});

t.test('the accessible name of a button has its text in it, in every language', async (t) => {
  // People who speak to their browser say what they see (WCAG 2.5.3).
  const words = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N} ]/gu, '');
  const pairs = templates.flatMap((file) =>
    [
      ...readFileSync(path.join(projectFolder, file), 'utf8').matchAll(
        /aria-label=t\('([^']+)'(?:, \{[^}]*\})?\)\)= t\('([^']+)'\)/g,
      ),
    ].map(([, name, text]) => ({ file, name: name!, text: text! })),
  );
  t.ok(pairs.length > 20);
  for (const language of ['en', 'de', 'fr']) {
    const catalogue = JSON.parse(
      readFileSync(path.join(projectFolder, `translations/${language}.json`), 'utf8'),
    ) as Record<string, string>;
    t.strictSame(
      pairs.filter(({ name, text }) => !words(catalogue[name] ?? '').includes(words(catalogue[text] ?? ''))),
      [],
      language,
    );
  }
});

t.test('no page defines a mixin of the layout again: one of the two would be called for both', async (t) => {
  const definitions = (file: string): string[] =>
    [...readFileSync(path.join(projectFolder, file), 'utf8').matchAll(/^mixin ([a-z-]+)/gm)].map(
      ([, name]) => name ?? '',
    );
  const common = definitions('templates/partials/mixins.pug');
  t.ok(common.includes('choice'));
  for (const file of templates)
    if (file !== 'templates/partials/mixins.pug')
      t.same(
        definitions(file).filter((name) => common.includes(name)),
        [],
        file,
      );
});
