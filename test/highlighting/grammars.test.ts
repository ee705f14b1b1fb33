import t from 'tap';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import complete from 'highlight.js';
import type { Language, Mode } from 'highlight.js';
import { grammars } from '../../src/highlighting/grammars.ts';
import { grammarCalled } from '../../src/highlighting/load-grammar.ts';

/** The grammars that a grammar of the library names within itself. */
function grammarsWithin(language: Language): Set<string> {
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (mode: unknown): void => {
    if (Array.isArray(mode)) return mode.forEach(visit);
    if (typeof mode !== 'object' || mode === null || seen.has(mode)) return;
    seen.add(mode);
    const { subLanguage, contains, variants, starts } = mode as Mode;
    for (const name of [subLanguage ?? []].flat()) found.add(name);
    [contains, variants, starts].forEach(visit);
  };
  visit(language);
  return found;
}

t.test('the table has every grammar of the library, its aliases and the grammars within it', async (t) => {
  const names = complete.listLanguages();
  t.ok(names.length > 150);
  t.strictSame(Object.keys(grammars).sort(), [...names].sort());
  for (const name of names) {
    const language = complete.getLanguage(name)!;
    const within = [...grammarsWithin(language)].filter((inner) => inner !== name).sort();
    t.strictSame(grammars[name]!.within?.split(' ') ?? [], within, name);
    for (const alias of [name, ...(language.aliases ?? [])]) {
      const found = grammarCalled(alias.toUpperCase());
      t.equal(found && complete.getLanguage(found), complete.getLanguage(alias), alias);
    }
  }
  for (const other of ['', 'mermaid', 'constructor', '__proto__', 'c d']) t.equal(grammarCalled(other), null, other);
});

t.test('a grammar that is loaded alone colours as among all of them', async (t) => {
  const samples: [language: string, text: string][] = [
    ['xml', '<p style="a">x</p><style>b { color: red }</style><script>const c = `${"<d>"}`; // e</script>'],
    ['markdown', '# a\n\n<b class="c">d</b> *e*\n'],
    ['typescript', 'const f = (g: string): number => <h i="j">{k}</h>;\nconst q = gql`query { l }`;'],
    ['php-template', '<a><?php echo "m"; ?></a>'],
    ['dockerfile', 'RUN echo "$n" && ls\n'],
    ['yaml', 'a: <%= b %>\n- "c"\n'],
    ['pgsql', 'CREATE FUNCTION f() RETURNS int AS $$ import os; return 1 $$ LANGUAGE plpython3u;'],
  ];
  complete.configure({ classPrefix: 'x-' });
  const task = new URL('../../src/highlighting/highlight-blocks-task.ts', import.meta.url).href;
  for (const [language, text] of samples) {
    const expected = complete.highlight(text, { language, ignoreIllegals: true }).value;
    t.match(expected, 'class="x-', 'something is coloured');
    // In a thread of its own: nothing else has loaded a grammar there.
    const source = `import(${JSON.stringify(task)}).then(async ({ run }) =>
      require('node:worker_threads').parentPort.postMessage(await run(${JSON.stringify({ blocks: [{ language, text }] })})))`;
    const worker = new Worker(source, { eval: true });
    const [shown] = (await once(worker, 'message')) as [(string | null)[]];
    t.strictSame(shown, [expected], language);
  }
});
