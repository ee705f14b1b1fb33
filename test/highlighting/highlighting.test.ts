import hljs from 'highlight.js/lib/core';
import t from 'tap';
import { readFileSync } from 'node:fs';
import { embedded } from '../../src/embedded/index.ts';
import { grammars } from '../../src/highlighting/grammars.ts';
import { createHighlighting, languageOf } from '../../src/highlighting/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createWorkerPool } from '../../src/workers/index.ts';
import { run as highlightBlocks } from '../../src/highlighting/highlight-blocks-task.ts';
import { run } from '../../src/highlighting/highlight-task.ts';

t.test('a language is recognised by the file name alone', async (t) => {
  const cases: [string, string | null][] = [
    ['main.ts', 'TypeScript'],
    ['src/Makefile', 'Makefile'],
    ['a.C', 'C'],
    ['x.h', 'C'],
    ['Dockerfile', 'Dockerfile'],
    ['boot.S', 'Assembly'],
    ['plot.R', 'R'],
    ['README', null],
    ['noending.', null],
    ['constructor', null],
    ['x.__proto__', null],
    ['.gitmodules', 'Git settings'],
  ];
  for (const [name, language] of cases) t.equal(languageOf(name)?.name ?? null, language, name);
});

const samples: [grammar: string, text: string][] = [
  ['typescript', 'const a = `x ${b /* c\nd */} <y>\n`;\nclass A extends B { /** @param {C} d */ }\n'],
  ['typescript', 'const view = <p title="&amp;">\n  {a}\n</p>;\nconst c = css`a { b: c }\n`;'],
  ['xml', '<style>\n a { color: red }\n</style><script>\nlet a = `\n</script>\n<script>`; let b</script><p>&lt;'],
  ['markdown', '# A\n\n<b>x</b> `code`\n\n```js\nlet a\n```\n* _a **b**_\n'],
  ['css', '@media (min-width: 1px) { a:hover > b::after { content: "\\"" } }\n/* \n\n'],
  ['python', 'def f(a: int) -> \'x\':\n    """a\n    >>> b\n    """\n    return f\'{a!r}\''],
  ['plaintext', 'a\n<b>\n'],
  ['php-template', '<p><?php echo "a";\n?></p>\n<?= $b ?>'],
  ['json', '{"a": [1, null,\n"b"]}\r\n'],
  ['shell', '$ ls -l | grep "a"\nb\n'],
  ['css', ''],
];

/** As the library itself makes HTML of one text. */
async function asTheLibraryDoes(grammar: string, text: string): Promise<string> {
  const plain = hljs.newInstance();
  plain.configure({ classPrefix: 'x-' });
  const names = new Set([grammar]);
  for (const name of names) for (const inner of grammars[name]!.within?.split(' ') ?? []) names.add(inner);
  for (const name of names) plain.registerLanguage(name, (await grammars[name]!.load()).default);
  return plain.highlight(text, { language: grammar, ignoreIllegals: true }).value;
}

/** HTML without the ends and beginnings of spans at the ends of lines. */
const unsplit = (html: string): string => html.replaceAll(/((?:<\/span>)*)\n((?:<span[^>]*>)*)/g, '\n');

t.test('each line is well-formed, and its tokens are those of the library', async (t) => {
  for (const [grammar, text] of samples) {
    const lines = await run({ grammar, text });
    const whole = await asTheLibraryDoes(grammar, text);
    t.equal(lines.length, text.split('\n').length, grammar);
    t.equal(unsplit(lines.join('\n')), unsplit(whole), grammar);
    const open: string[] = [];
    for (const [at, line] of whole.split('\n').entries()) {
      let wanted = open.join('') + line;
      for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) tag === '</span>' ? open.pop() : open.push(tag);
      wanted += '</span>'.repeat(open.length);
      t.equal(lines[at], wanted, `${grammar}, line ${at + 1}`);
    }
    const language = grammar === 'shell' ? 'console' : grammar;
    t.strictSame(await highlightBlocks({ blocks: [{ language, text }] }), [whole], `${grammar} as a block`);
  }
});

t.test('lines of a part have the colours that they have in the whole', async (t) => {
  const files = [
    'src/git/objects/browse.ts',
    'README.md',
    'templates/assets/style.css',
    'package.json',
    'scripts/chaos',
  ];
  for (const file of files) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const grammar = languageOf(file.endsWith('chaos') ? 'chaos.sh' : file)!.grammar!;
    const whole = await run({ grammar, text });
    const ranges = [0.1, 0.3, 0.6].map((part): [number, number] => {
      const first = Math.floor(whole.length * part) + 1;
      return [first, first + 7];
    });
    const some = await run({ grammar, text, ranges });
    t.equal(some.length, Math.min(ranges.at(-1)![1], whole.length), file);
    const isWanted = (line: number) => ranges.some(([first, last]) => first <= line && line <= last);
    t.same(
      some,
      whole.slice(0, some.length).map((html, at) => (isWanted(at + 1) ? html : '')),
      file,
    );
  }
  const opened = 'let a = 1;\n<Frame>\n'.concat('b\n'.repeat(100), '</Frame>\n');
  const whole = await run({ grammar: 'typescript', text: opened });
  t.strictSame(
    await run({ grammar: 'typescript', text: opened, ranges: [[2, 2]] }),
    ['', whole[1]!],
    'what is far behind',
  );
});

t.test('a worker thread highlights, caches, gives up in time and recovers', async (t) => {
  const workers = createWorkerPool({ embedded, logger: silentLogger });
  t.teardown(() => workers.stop());
  const highlighting = createHighlighting({ workers });
  const client = 'alice/work';
  let oid = '';
  /** On a busy machine a thread takes time to start, and the first requests get no result. */
  const coloured = async (fileName: string, text: string): Promise<string[] | null> => {
    for (let attempt = 0; attempt < 60; attempt += 1) {
      const lines = await highlighting.highlight({ oid: (oid = `${fileName} ${attempt}`), fileName, text, client });
      if (lines) return lines;
    }
    return null;
  };
  const lines = await coloured('a.ts', 'const a = "<b>";\n/* x\n y */');
  t.match(
    lines?.[0],
    /<span class="x-keyword">const<\/span> a = <span class="x-string">&quot;&lt;b&gt;&quot;<\/span>;/,
  );
  t.equal(lines?.length, 3);
  t.strictSame(
    await highlighting.highlight({ oid, fileName: 'a.ts', text: 'not read again', client }),
    lines,
    'an id never means other bytes',
  );
  t.equal(await highlighting.highlight({ oid: '2', fileName: 'a.unknown', text: 'x', client }), null);
  t.equal(
    await highlighting.highlight({ oid: '3', fileName: 'a.ts', text: 'x'.repeat(2_001), client }),
    null,
    'a line too long',
  );
  t.equal(
    await highlighting.highlight({ oid: '4', fileName: 'a.ts', text: 'x\n'.repeat(10_001), client }),
    null,
    'too many lines',
  );
  t.equal(
    await highlighting.highlight({ oid: '5', fileName: 'a.ts', text: `${'x'.repeat(1_000)}\n`.repeat(600), client }),
    null,
    'too many bytes',
  );

  // Within the limits, and yet this grammar needs many seconds for it.
  const trap = `${'a'.repeat(1_900)}\n`.repeat(60) + `${' '.repeat(1_900)}\n`.repeat(60);
  const startedAt = performance.now();
  t.equal(await highlighting.highlight({ oid: '6', fileName: 'a.cpp', text: trap, client }), null);
  t.ok(performance.now() - startedAt < 5_000, 'the thread was ended');
  t.match(
    await coloured('a.c', 'int x;'),
    ['<span class="x-type">int</span> x;'],
    'the next one is served by a new thread',
  );
});

const style = readFileSync(new URL('../../templates/assets/style.css', import.meta.url), 'utf8');

/** Relative luminance and contrast as WCAG 2.2 defines them. */
function luminance(colour: string): number {
  const hex = colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit).join('') : colour.slice(1);
  const [r, g, b] = [0, 2, 4]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const contrast = (a: string, b: string): number => {
  const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
};

t.test('every token colour has a contrast of at least 4.5:1 on every background it occurs on', async (t) => {
  const pair = (text: string) => /light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\)/.exec(text)?.slice(1, 3);
  const token = (name: string) => pair(new RegExp(`--${name}: ([^;]+);`).exec(style)![1]!)!;
  const grounds = ['surface', 'glow', 'good-glow', 'bad-glow'].map((name) => [name, token(name)] as const);
  const words = [...style.matchAll(/\.x-[^{}]*\{\s*color: ([^;]+);/g)].map(([, colour]) =>
    colour!.startsWith('var(') ? token(/--([a-z]+)/.exec(colour!)![1]!) : pair(colour!)!,
  );
  t.ok(words.length >= 8);
  for (const colours of words) {
    for (const [ground, [light, dark]] of grounds) {
      const found = [contrast(colours[0]!, light!), contrast(colours[1]!, dark!)];
      t.ok(
        found.every((each) => each >= 4.5),
        `${colours.join(' ')} on ${ground}: ${found.map((each) => each.toFixed(2)).join(', ')}`,
      );
    }
  }
});
