import t from 'tap';
import { readFileSync } from 'node:fs';
import { embedded } from '../../src/embedded/index.ts';
import { createHighlighting, languageOf } from '../../src/highlighting/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createWorkerPool } from '../../src/workers/index.ts';
import { run } from '../../src/highlighting/highlight-task.ts';
import { textFor } from '../../src/highlighting/line-ranges.ts';
import { splitLines } from '../../src/highlighting/split-lines.ts';

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

t.test('highlighted HTML is split into lines that are each well-formed', async (t) => {
  t.same(splitLines('<span class="a">x\ny <span class="b">z\n</span></span>w'), [
    '<span class="a">x</span>',
    '<span class="a">y <span class="b">z</span></span>',
    '<span class="a"><span class="b"></span></span>w',
  ]);
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
    const some = await run({ grammar, text: textFor(text, ranges), ranges });
    t.equal(some.length, Math.min(ranges.at(-1)![1], whole.length), file);
    const isWanted = (line: number) => ranges.some(([first, last]) => first <= line && line <= last);
    t.same(
      some,
      whole.slice(0, some.length).map((html, at) => (isWanted(at + 1) ? html : '')),
      file,
    );
  }
  t.equal(textFor('a\nb', [[1, 1]]), 'a\nb');
  t.equal(textFor('x\n'.repeat(500), [[10, 20]]), 'x\n'.repeat(60));
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
